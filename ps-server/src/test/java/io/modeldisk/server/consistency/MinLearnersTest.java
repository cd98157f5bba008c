package io.modeldisk.server.consistency;

import static io.modeldisk.server.consistency.RoundsFixture.SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of a job with a minimum of two learners. */
class MinLearnersTest {
    enum Mode {
        ASP(Asp::new), SSP((store, aggregator, membership) -> new Ssp(0, store, aggregator, membership)), BSP(Bsp::new);

        private final RoundsFixture.Mode factory;

        Mode(RoundsFixture.Mode factory) {
            this.factory = factory;
        }
    }

    private RoundsFixture shard;
    private Nexus a;
    private Nexus b;

    private void begin(Mode mode) {
        shard = new RoundsFixture(2, 2, new SumAggregator(), mode.factory);
        a = joined("a");
        b = joined("b");
    }

    private Nexus joined(String name) {
        Nexus nexus = shard.connect(name);
        shard.membership.join(nexus);
        shard.consistency.learnersLeft();
        return nexus;
    }

    @AfterEach
    void close() {
        assertThat(shard.consistency.waiting()).as("tasks that wait").isZero();
        shard.close();
    }

    private FakeTask push(Nexus learner, long round) {
        return new FakeTask(learner, 0, SIZE).fill(2).ofRound(round);
    }

    private FakeTask pull(Nexus learner, long round) {
        return new FakeTask(learner, 0, SIZE).ofRound(round);
    }

    private static void assertStopped(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(ScsiException.class,
            e -> assertThat(e.sense()).isEqualTo(RoundRules.TOO_FEW_LEARNERS));
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void pushIsRefusedWhenTooFewLearnersAreLeft(Mode mode) throws Exception {
        begin(mode);
        shard.leave(b);
        assertStopped(() -> shard.consistency.push(push(a, 1)));
        assertStopped(() -> shard.consistency.push(new FakeTask(a, 0, SIZE).fill(2)));
        assertThat(shard.weight(0)).isZero();
        assertThat(shard.consistency.admitPull(pull(a, 0))).as("the weights can still be read").isTrue();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void jobContinuesWhenEnoughLearnersHaveJoinedAgain(Mode mode) throws Exception {
        begin(mode);
        shard.expire(b);
        assertStopped(() -> shard.consistency.push(push(a, 1)));
        b = joined("c");
        assertThat(shard.consistency.push(push(a, 1))).isTrue();
        assertThat(shard.consistency.push(push(b, 1))).isTrue();
        assertThat(shard.weight(0)).isEqualTo(mode == Mode.BSP ? 2 : 4);
        assertThat(shard.consistency.admitPull(pull(a, 1))).isTrue();
    }

    @ParameterizedTest
    @EnumSource(value = Mode.class, names = {"SSP", "BSP"})
    void waitingPullIsResumedWhenTooFewLearnersAreLeft(Mode mode) throws Exception {
        begin(mode);
        assertThat(shard.consistency.push(push(a, 1))).isTrue();
        FakeTask pull = pull(a, 1);
        assertThat(shard.consistency.admitPull(pull)).isFalse();
        shard.leave(b);
        pull.awaitResume();
        if (mode == Mode.BSP) {
            assertStopped(() -> shard.consistency.admitPull(pull));
        } else {
            assertThat(shard.consistency.admitPull(pull)).as("no learner is behind any more").isTrue();
        }
    }

    @Test
    void pullOfALaterRoundIsRefusedAfterTheJobHasStopped() {
        begin(Mode.SSP);
        shard.leave(b);
        assertStopped(() -> shard.consistency.admitPull(pull(shard.connect("observer"), 1)));
    }

    @ParameterizedTest
    @EnumSource(value = Mode.class, names = {"SSP", "BSP"})
    void pullThatIsRefusedAfterAWaitIsNoLongerCountedAsWaiting(Mode mode) throws Exception {
        begin(mode);
        FakeTask pull = pull(shard.connect("observer"), 1);
        assertThat(shard.consistency.admitPull(pull)).isFalse();
        shard.membership.left(b);
        assertStopped(() -> shard.consistency.admitPull(pull));
        assertThat(shard.consistency.waiting()).isZero();
    }

    @Test
    void waitingPushAndSynchronizationAreResumedWhenTheJobStops() throws Exception {
        begin(Mode.BSP);
        shard.consistency.push(push(a, 1));
        FakeTask next = push(a, 2);
        assertThat(shard.consistency.push(next)).isFalse();
        FakeTask synchronization = new FakeTask(a, 0);
        assertThat(shard.consistency.synchronize(synchronization)).isFalse();
        shard.leave(b);
        next.awaitResume();
        assertStopped(() -> shard.consistency.push(next));
        synchronization.awaitResume();
        assertThat(shard.consistency.synchronize(synchronization)).isTrue();
    }

    @Test
    void learnerThatPushedTheOpenRoundAndLeftCountsForTheMinimum() throws Exception {
        begin(Mode.BSP);
        shard.consistency.push(push(a, 1));
        shard.leave(a);
        assertThat(shard.consistency.push(push(b, 1))).isTrue();
        assertThat(shard.consistency.admitPull(pull(b, 1))).isTrue();
        assertThat(shard.weight(0)).isEqualTo(2);
        assertStopped(() -> shard.consistency.push(push(b, 2)));
    }

    @Test
    void openRoundClosesWhenEnoughLearnersHaveJoinedAgain() throws Exception {
        begin(Mode.BSP);
        shard.consistency.push(push(a, 1));
        shard.leave(b);
        assertThat(shard.consistency.rounds(0)).isZero();
        assertStopped(() -> shard.consistency.admitPull(pull(a, 1)));
        assertThat(shard.consistency.push(push(a, 1))).as("a repeated push is accepted").isTrue();
        joined("c");
        assertThat(shard.consistency.rounds(0)).isEqualTo(1);
        assertThat(shard.consistency.admitPull(pull(a, 1))).isTrue();
    }

    @Test
    void jobDoesNotStopBeforeItHasFormed() throws Exception {
        shard = new RoundsFixture(2, 2, new SumAggregator(), Bsp::new);
        a = joined("a");
        assertThat(shard.consistency.push(push(a, 1))).isTrue();
        shard.leave(a);
    }
}
