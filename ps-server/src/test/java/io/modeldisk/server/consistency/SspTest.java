package io.modeldisk.server.consistency;

import static io.modeldisk.server.consistency.RoundsFixture.BLOCK;
import static io.modeldisk.server.consistency.RoundsFixture.PAGE;
import static io.modeldisk.server.consistency.RoundsFixture.SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SspTest {
    private Consistency beginsAt;
    private final RoundsFixture shard = RoundsFixture.stale(1, 2);
    private final Nexus a = joined("a");
    private final Nexus b = joined("b");

    private Nexus joined(String name) {
        Nexus nexus = shard.connect(name);
        shard.membership.join(nexus);
        return nexus;
    }

    @AfterEach
    void close() {
        assertThat(shard.consistency.waiting()).as("tasks that wait").isZero();
        shard.close();
    }

    private void push(Nexus learner, long round) throws ScsiException {
        assertThat(shard.consistency.push(new FakeTask(learner, 0, SIZE).fill(1).ofRound(round))).isTrue();
    }

    private void pushAll(Nexus learner, long rounds) throws ScsiException {
        for (long round = 1; round <= rounds; round++) {
            push(learner, round);
        }
    }

    private FakeTask pull(Nexus learner, long round) {
        return new FakeTask(learner, 0, SIZE).ofRound(round);
    }

    private boolean admits(FakeTask pull) throws ScsiException {
        boolean admitted = shard.consistency.admitPull(pull);
        if (!admitted) {
            shard.consistency.forget(pull);
        }
        return admitted;
    }

    @Test
    void pushOfHalfARoundResumesNoPull() throws Exception {
        pushAll(a, 2);
        FakeTask pull = pull(a, 2);
        assertThat(shard.consistency.admitPull(pull)).isFalse();
        shard.consistency.push(new FakeTask(b, 0, PAGE).fill(1).ofRound(1));
        assertThat(pull.resumes()).isZero();
        shard.consistency.push(new FakeTask(b, PAGE, SIZE - PAGE).fill(1).ofRound(1));
        pull.awaitResume();
        assertThat(shard.consistency.admitPull(pull)).isTrue();
    }

    @Test
    void pullDoesNotWaitForBlocksThatItDoesNotRead() throws Exception {
        shard.consistency.push(new FakeTask(b, 0, BLOCK).fill(1).ofRound(1));
        pushAll(a, 2);
        assertThat(admits(new FakeTask(a, 0, BLOCK).ofRound(2))).isTrue();
        assertThat(admits(new FakeTask(a, BLOCK, BLOCK).ofRound(2))).isFalse();
    }

    @Test
    void pushesWithoutARoundNumberAdvanceTheClockOfTheirLearner() throws Exception {
        for (int round = 1; round <= 2; round++) {
            shard.push(a, 0, PAGE, 1);
            shard.push(a, PAGE, SIZE - PAGE, 1);
        }
        FakeTask pull = new FakeTask(a, 0, SIZE);
        assertThat(shard.consistency.admitPull(pull)).as("a is at clock 2 and b is at clock 0").isFalse();
        shard.push(b, 0, SIZE, 1);
        pull.awaitResume();
        assertThat(shard.consistency.admitPull(pull)).isTrue();
        assertThat(shard.weight(PAGE)).isEqualTo(3);
    }

    @Test
    void firstPushWithoutARoundNumberBelongsToTheJoinRound() throws Exception {
        pushAll(a, 5);
        pushAll(b, 5);
        Nexus newcomer = joined("newcomer");
        push(a, 6);
        push(b, 6);
        push(a, 7);
        push(b, 7);
        FakeTask pull = pull(a, 7);
        assertThat(shard.consistency.admitPull(pull)).as("the newcomer has not pushed round 6").isFalse();
        shard.push(newcomer, 0, SIZE, 1);
        pull.awaitResume();
        assertThat(shard.consistency.admitPull(pull)).isTrue();
    }

    @Test
    void newcomerJoinsAfterTheRoundsOfPushesWithoutARoundNumber() throws Exception {
        shard.push(a, 0, SIZE, 1);
        shard.push(a, 0, PAGE, 1);
        assertThat(shard.membership.member(joined("newcomer")).joinRound()).isEqualTo(3);
    }

    @Test
    void pullAfterPartialRoundsWaitsLikeAPullAfterCompleteRounds() throws Exception {
        for (int round = 1; round <= 3; round++) {
            shard.push(a, 0, PAGE, 1);
        }
        assertThat(admits(new FakeTask(a, 0, PAGE))).as("a is in round 3 and b has pushed nothing").isFalse();
        push(b, 1);
        assertThat(admits(new FakeTask(a, 0, PAGE))).isTrue();
    }

    @Test
    void pullOfABlockIsResumedByAPushThatChangesTheBlockAndThenFails() throws Exception {
        SumAggregator sum = new SumAggregator();
        try (RoundsFixture failing = RoundsFixture.stale(0, 2, sum)) {
            failing.membership.join(failing.connect("a"));
            failing.membership.join(failing.connect("b"));
            failing.consistency.push(new FakeTask(a, 0, SIZE).ofRound(1));
            FakeTask pull = new FakeTask(a, 0, BLOCK).ofRound(1);
            assertThat(failing.consistency.admitPull(pull)).isFalse();
            sum.failAfter(1, () -> {
                throw new IllegalStateException("the aggregator fails on purpose");
            });
            assertThatThrownBy(() -> failing.consistency.push(new FakeTask(b, 0, SIZE).ofRound(1)))
                .isInstanceOf(IllegalStateException.class);
            assertThat(pull.resumes()).isPositive();
            assertThat(failing.consistency.admitPull(pull)).isTrue();
        }
    }

    @Test
    void pullThatBeginsToWaitDuringAPushDoesNotDelayOtherPulls() throws Exception {
        SumAggregator sum = new SumAggregator();
        List<FakeTask> begins = new ArrayList<>();
        try (RoundsFixture busy = RoundsFixture.stale(0, 2, (block, offset, gradient, from, lengthBytes, scale) -> {
            sum.aggregate(block, offset, gradient, from, lengthBytes, scale);
            begins.forEach(this::beginToWait);
        })) {
            beginsAt = busy.consistency;
            busy.membership.join(busy.connect("a"));
            busy.membership.join(busy.connect("b"));
            busy.consistency.push(new FakeTask(a, 0, SIZE).ofRound(1));
            FakeTask early = new FakeTask(a, 0, BLOCK).ofRound(1);
            beginToWait(early);
            // The late pull starts to wait after b has pushed round 1 of the first block, but before the early pull is resumed.
            FakeTask late = new FakeTask(a, 0, BLOCK).ofRound(2);
            busy.consistency.push(new FakeTask(b, 0, BLOCK - PAGE).ofRound(1));
            begins.add(late);
            busy.consistency.push(new FakeTask(b, BLOCK - PAGE, 2 * PAGE).ofRound(1));
            assertThat(early.resumes()).isPositive();
            busy.consistency.forget(late);
        }
    }

    private void beginToWait(FakeTask pull) {
        try {
            assertThat(beginsAt.admitPull(pull)).isFalse();
        } catch (ScsiException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void pullOfSeveralBlocksWaitsUntilEachBlockHasTheNeededRound() throws Exception {
        push(b, 1);
        pushAll(a, 3);
        shard.consistency.push(new FakeTask(b, 0, BLOCK).fill(1).ofRound(2));
        FakeTask pull = pull(a, 3);
        assertThat(shard.consistency.admitPull(pull)).as("only the first block is ready").isFalse();
        shard.consistency.push(new FakeTask(b, BLOCK, BLOCK).fill(1).ofRound(2));
        pull.awaitResume();
        assertThat(shard.consistency.admitPull(pull)).as("all blocks except the last are ready").isFalse();
        shard.consistency.push(new FakeTask(b, 2 * BLOCK, PAGE).fill(1).ofRound(2));
        pull.awaitResume();
        assertThat(shard.consistency.admitPull(pull)).isTrue();
    }

    @Test
    void pullByANonLearnerWaitsOnlyForTheRoundThatItNames() throws Exception {
        pushAll(a, 2);
        pushAll(b, 1);
        Nexus observer = shard.connect("observer");
        assertThat(admits(new FakeTask(observer, 0, SIZE))).isTrue();
        assertThat(admits(pull(observer, 2))).isTrue();
        assertThat(admits(pull(observer, 3))).isFalse();
    }

    @Test
    void forgottenPullIsNotResumed() throws Exception {
        pushAll(a, 2);
        FakeTask pull = pull(a, 2);
        assertThat(shard.consistency.admitPull(pull)).isFalse();
        assertThat(shard.consistency.admitPull(pull)).as("the pull is tried again too early").isFalse();
        assertThat(shard.consistency.waiting()).isEqualTo(1);
        shard.consistency.forget(pull);
        push(b, 1);
        assertThat(pull.resumes()).isZero();
    }

    @Test
    void pullThatWaitsAtTheLastBlockOfItsRangeCanBeForgotten() throws Exception {
        pushAll(a, 2);
        shard.consistency.push(new FakeTask(b, 0, 2 * BLOCK).fill(1).ofRound(1));
        FakeTask pull = pull(a, 2);
        assertThat(shard.consistency.admitPull(pull)).as("the last block lacks round 1 of b").isFalse();
        shard.consistency.forget(pull);
        assertThat(shard.consistency.waiting()).isZero();
    }

    @Test
    void pullOfALaterRoundDoesNotDelayAPullOfAnEarlierRound() throws Exception {
        pushAll(a, 3);
        FakeTask early = pull(a, 2);
        FakeTask late = pull(a, 3);
        assertThat(shard.consistency.admitPull(early)).isFalse();
        assertThat(shard.consistency.admitPull(late)).isFalse();
        push(b, 1);
        early.awaitResume();
        late.awaitResume();
        assertThat(shard.consistency.admitPull(early)).isTrue();
        assertThat(shard.consistency.admitPull(late)).isFalse();
        push(b, 2);
        late.awaitResume();
        assertThat(shard.consistency.admitPull(late)).isTrue();
    }
}
