package io.modeldisk.server.kept;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.dialect.KeepRoundCommand.Result;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.test.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RoundKeeperTest {
    private static final int BLOCK = 4096;
    private static final int BLOCKS = 4;
    private static final Nexus A = FakeTask.nexus("a");
    private static final Nexus B = FakeTask.nexus("b");

    private final BlockStore store = new BlockStore(new BlockLayout((long) BLOCKS * BLOCK, BLOCK), 8, 0);
    private final long[] rounds = new long[BLOCKS];
    private final ManualClock clock = new ManualClock();
    private RoundKeeper keeper = keeper(BLOCKS);

    private RoundKeeper keeper(int copies) {
        return new RoundKeeper(store, block -> rounds[block], true, (long) copies * BLOCK, clock);
    }

    @AfterEach
    void close() {
        keeper.close();
        store.close();
    }

    /** Closes the next round of each given block. The weights of the block then equal the number of its closed rounds. */
    private void closeRound(int... blocks) {
        for (int index : blocks) {
            Block block = store.block(index);
            try (ScopedLock.Held _ = block.hold()) {
                Weights.fill(block.writable().weights(), rounds[index] + 1);
                rounds[index]++;
                block.updated();
            }
        }
    }

    /** Pulls a block, and returns the round of its weights. */
    private float pull(Nexus nexus, int block) {
        FakeTask task = new FakeTask(nexus, (long) block * BLOCK, BLOCK);
        Pin pin = new Pin();
        keeper.pin(task, 0, pin);
        assertThat(pin.lengthBytes()).isEqualTo(BLOCK);
        float weight = Weights.uniform(pin);
        store.unpin(pin);
        return weight;
    }

    @Test
    void readerGetsTheKeptRoundOfEachBlockAlthoughLearnersContinue() {
        closeRound(0, 1, 2, 3);
        assertThat(keeper.keep(A, 1, 0, BLOCKS)).isEqualTo(Result.DONE);
        closeRound(0, 1);
        closeRound(0);
        assertThat(pull(A, 0)).isEqualTo(1);
        assertThat(pull(A, 2)).isEqualTo(1);
        closeRound(2, 3);
        assertThat(pull(A, 1)).isEqualTo(1);
        assertThat(pull(A, 3)).isEqualTo(1);
        assertThat(keeper.end(A)).isEqualTo(new RoundKeeper.End(Result.DONE, 1, 1));
        assertThat(pull(A, 0)).as("a pull after the end").isEqualTo(3);
    }

    @Test
    void roundThatHasNotClosedInAllBlocksIsKeptWhenItCloses() {
        closeRound(0, 1);
        assertThat(keeper.keep(A, 1, 0, BLOCKS)).isEqualTo(Result.DONE);
        closeRound(2, 3);
        closeRound(0, 1, 2, 3);
        for (int i = 0; i < BLOCKS; i++) {
            assertThat(pull(A, i)).isEqualTo(1);
        }
        assertThat(keeper.end(A).result()).isEqualTo(Result.DONE);
    }

    @Test
    void pullBeforeTheRoundHasClosedLosesTheRound() {
        keeper.keep(A, 1, 0, BLOCKS);
        pull(A, 0);
        assertThat(keeper.end(A).result()).isEqualTo(Result.LOST);
    }

    @Test
    void roundThatIsOverIsRefusedUnlessItIsKeptForAnotherReader() {
        closeRound(0, 1, 2, 3);
        keeper.keep(A, 1, 0, BLOCKS);
        closeRound(0);
        assertThat(keeper.keep(B, 1, 0, BLOCKS)).isEqualTo(Result.DONE);
        assertThat(pull(B, 0)).isEqualTo(1);
        keeper.end(A);
        assertThat(keeper.end(B).result()).isEqualTo(Result.DONE);
        assertThat(keeper.keep(B, 1, 0, BLOCKS)).isEqualTo(Result.PASSED);
        assertThat(keeper.keep(B, 1, 1, BLOCKS)).as("a range without the block").isEqualTo(Result.DONE);
    }

    @Test
    void readersOfOneRoundShareTheMemoryOfOneCopy() {
        keeper = keeper(1);
        keeper.keep(A, 0, 0, 1);
        keeper.keep(B, 0, 0, 1);
        closeRound(0);
        assertThat(pull(A, 0)).isZero();
        assertThat(pull(B, 0)).isZero();
        assertThat(keeper.end(A).result()).isEqualTo(Result.DONE);
        assertThat(keeper.end(B).result()).isEqualTo(Result.DONE);
    }

    @Test
    void readerLosesTheRoundIfNoMemoryIsFreeForABlockThatItStillNeeds() {
        keeper = keeper(1);
        keeper.keep(A, 0, 0, BLOCKS);
        pull(A, 0);
        closeRound(0, 1);
        assertThat(pull(A, 1)).isZero();
        closeRound(2);
        assertThat(pull(A, 2)).isZero();
        assertThat(pull(A, 3)).isZero();
        assertThat(keeper.end(A).result()).as("memory is needed only for unread blocks").isEqualTo(Result.DONE);
        keeper.keep(A, 1, 0, 3);
        closeRound(0, 1);
        assertThat(keeper.end(A).result()).isEqualTo(Result.LOST);
    }

    @Test
    void lostBlockIsNotKeptWithTheWeightsOfALaterRound() {
        keeper = keeper(1);
        keeper.keep(A, 0, 0, 2);
        closeRound(0);
        closeRound(1);
        // This pull frees the place of the copy.
        pull(A, 0);
        closeRound(1);
        assertThat(keeper.keep(B, 0, 1, 2)).isEqualTo(Result.PASSED);
        assertThat(keeper.end(A).result()).isEqualTo(Result.LOST);
        assertThat(keeper.keep(B, 2, 1, 2)).as("the place is free").isEqualTo(Result.DONE);
        closeRound(1);
        assertThat(pull(B, 1)).isEqualTo(2);
    }

    @Test
    void memoryIsFreeAgainWhenReadersEnd() {
        keeper = keeper(1);
        for (int i = 0; i < 3; i++) {
            assertThat(keeper.keep(A, i, 0, 1)).isEqualTo(Result.DONE);
            closeRound(0);
            assertThat(pull(A, 0)).isEqualTo(i);
            assertThat(keeper.end(A).result()).isEqualTo(Result.DONE);
            keeper.keep(A, i + 1, 0, 1);
            keeper.end(A);
        }
        keeper.keep(A, 3, 0, 1);
        closeRound(0);
        keeper.end(A);
        keeper.keep(A, 4, 0, 1);
        closeRound(0);
        assertThat(pull(A, 0)).isEqualTo(4);
    }

    @Test
    void readerThatPullsABlockTwiceLosesTheRound() {
        keeper.keep(A, 0, 0, BLOCKS);
        pull(A, 0);
        pull(A, 0);
        assertThat(keeper.end(A).result()).isEqualTo(Result.LOST);
        assertThat(keeper.end(A).result()).as("result for a nexus that is no longer a reader").isEqualTo(Result.LOST);
    }

    @Test
    void readerOfAnotherRoundReplacesAnIdleReader() {
        keeper.keep(A, 0, 0, BLOCKS);
        closeRound(0, 1, 2, 3);
        assertThat(keeper.keep(B, 1, 0, BLOCKS)).isEqualTo(Result.OTHER_ROUND);
        assertThat(keeper.round()).isZero();
        clock.advance(Duration.ofSeconds(RoundKeeper.IDLE_S + 1));
        assertThat(keeper.keep(B, 1, 0, BLOCKS)).isEqualTo(Result.DONE);
        assertThat(keeper.end(A).result()).isEqualTo(Result.LOST);
        assertThat(pull(B, 0)).isEqualTo(1);
    }

    @Test
    void modeWithoutRoundsReturnsTheCurrentWeightsAndTheRangeOfVersions() {
        keeper = new RoundKeeper(store, block -> -1, false, 0, clock);
        closeRound(0);
        assertThat(keeper.keep(A, 0, 0, BLOCKS)).isEqualTo(Result.DONE);
        assertThat(keeper.keep(B, 7, 0, BLOCKS)).isEqualTo(Result.DONE);
        closeRound(1, 1, 1);
        for (int i = 0; i < BLOCKS; i++) {
            assertThat(pull(A, i)).isEqualTo(rounds[i]);
        }
        assertThat(keeper.end(A)).isEqualTo(new RoundKeeper.End(Result.DONE, 0, 3));
    }

    @Test
    void keeperReturnsTheLowestAndTheHighestRoundOfABlockRange() {
        closeRound(0, 0, 2);
        assertThat(keeper.rounds(0, BLOCKS)).isEqualTo(new RoundKeeper.Rounds(0, 2));
        assertThat(keeper.rounds(2, 3)).isEqualTo(new RoundKeeper.Rounds(1, 1));
    }
}
