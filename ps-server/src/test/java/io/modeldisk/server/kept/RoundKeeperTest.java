package io.modeldisk.server.kept;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.protocol.dialect.KeepRoundCommand.Result;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.test.ManualClock;
import java.lang.foreign.ValueLayout;
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

    /** Closes the next round of a block. The weights are then the number of closed rounds. */
    private void closeRound(int... blocks) {
        for (int index : blocks) {
            Block block = store.block(index);
            block.lock();
            try {
                for (long at = 0; at < BLOCK; at += Float.BYTES) {
                    block.writable().weights().set(ValueLayout.JAVA_FLOAT, at, rounds[index] + 1);
                }
                rounds[index]++;
                block.updated();
            } finally {
                block.unlock();
            }
        }
    }

    /** Pulls a block and returns the number of its round. */
    private float pull(Nexus nexus, int block) {
        FakeTask task = new FakeTask(nexus, (long) block * BLOCK, BLOCK);
        Pin pin = new Pin();
        keeper.pin(task, 0, pin);
        assertThat(pin.lengthBytes()).isEqualTo(BLOCK);
        float first = weight(pin, 0);
        assertThat(weight(pin, BLOCK - Float.BYTES)).isEqualTo(first);
        store.unpin(pin);
        return first;
    }

    private static float weight(Pin pin, int at) {
        long offset = pin.offset() + at;
        return pin.memory().slab(offset).get(ValueLayout.JAVA_FLOAT, DataMemory.offsetInSlab(offset));
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
    void readerLosesTheRoundWithoutMemoryForABlockThatItStillNeeds() {
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
    void blockThatWasLostIsNotKeptFromALaterRound() {
        keeper = keeper(1);
        keeper.keep(A, 0, 0, 2);
        closeRound(0);
        closeRound(1);
        // Makes the place free again.
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
    void blockThatIsPulledTwiceLosesTheRound() {
        keeper.keep(A, 0, 0, BLOCKS);
        pull(A, 0);
        pull(A, 0);
        assertThat(keeper.end(A).result()).isEqualTo(Result.LOST);
        assertThat(keeper.end(A).result()).as("the nexus keeps no round").isEqualTo(Result.LOST);
    }

    @Test
    void readerOfAnotherRoundTakesOverWhenTheFirstIsIdle() {
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
    void modeWithoutRoundsReturnsEachBlockAsItIsWithTheSpanOfVersions() {
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
    void roundsAreTheLowestAndTheHighestOfTheRange() {
        closeRound(0, 0, 2);
        assertThat(keeper.rounds(0, BLOCKS)).isEqualTo(new RoundKeeper.Rounds(0, 2));
        assertThat(keeper.rounds(2, 3)).isEqualTo(new RoundKeeper.Rounds(1, 1));
    }
}
