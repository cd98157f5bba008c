package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class LeaseTimerTest {
    private static final Duration LEASE = Duration.ofSeconds(8);
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final int SIZE = 8192;
    private static final Nexus LEARNER = FakeTask.nexus("a");

    private final ManualClock clock = new ManualClock();
    private boolean mayServe = true;
    @AutoClose
    private ShardModel shard;
    private LeaseTimer timer;

    private void open(Aggregator aggregator) throws IOException {
        shard = ShardModel
            .open(new ServerContext().model("test").sizeBytes(SIZE).blockSizeBytes(4096).consistency("bsp")
                .learners(2).lease(LEASE).aggregator("test", aggregator).mayServe(() -> mayServe).clock(clock));
        timer = new LeaseTimer(shard, clock);
    }

    private void join(Nexus nexus) {
        shard.target().nexusEstablished(nexus);
        shard.learners().join(nexus);
    }

    /** Opens a shard whose learner has lost its connection. */
    private void loseTheLearner() throws IOException {
        open(new SumAggregator());
        join(LEARNER);
        shard.target().nexusLost(LEARNER, false);
    }

    private boolean isLearner() {
        return shard.learners().member(LEARNER) != null;
    }

    private void run(Duration time) {
        for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(PERIOD)) {
            clock.advance(PERIOD);
            timer.tick();
        }
    }

    @Test
    void learnerWithoutAConnectionIsRemovedWhenItsLeaseExpires() throws IOException {
        loseTheLearner();
        run(LEASE.minus(PERIOD));
        assertThat(isLearner()).isTrue();
        run(PERIOD);
        assertThat(isLearner()).isFalse();
    }

    @Test
    void pauseOfTheProcessExtendsTheLeases() throws IOException {
        loseTheLearner();
        run(PERIOD);
        clock.advance(LEASE.multipliedBy(2));
        timer.tick();
        assertThat(isLearner()).isTrue();
        run(LEASE);
        assertThat(isLearner()).isFalse();
    }

    @Test
    void leaseDoesNotEndWhileTheShardMustNotServe() throws IOException {
        loseTheLearner();
        mayServe = false;
        run(LEASE.multipliedBy(2));
        mayServe = true;
        run(LEASE.minus(PERIOD));
        assertThat(isLearner()).isTrue();
        run(PERIOD);
        assertThat(isLearner()).isFalse();
    }

    @Test
    void timerTriesAgainToCloseRoundsAfterAnOutOfMemoryError() throws Exception {
        SumAggregator aggregator = new SumAggregator();
        aggregator.failAfter(0, () -> {
            throw new OutOfMemoryError("simulated by the test");
        });
        open(aggregator);
        Nexus other = FakeTask.nexus("b");
        join(LEARNER);
        join(other);
        LogicalUnit train = shard.target().units().get(0);
        train.write(new FakeTask(other, 0, SIZE).fill(1));
        shard.target().nexusLost(LEARNER, false);
        assertThatThrownBy(() -> run(LEASE)).isInstanceOf(OutOfMemoryError.class);
        run(PERIOD);
        assertThat(shard.consistency().rounds(0)).isEqualTo(1);
        assertThat(shard.consistency().rounds(1)).isEqualTo(1);
    }
}
