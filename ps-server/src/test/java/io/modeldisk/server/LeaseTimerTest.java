package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseTimerTest {
    private static final Duration LEASE = Duration.ofSeconds(8);
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final int SIZE = 8192;
    private static final Nexus LEARNER = FakeTask.nexus("a");

    private final ManualClock clock = new ManualClock();
    private boolean mayServe = true;

    private ShardModel open(Aggregator aggregator) throws IOException {
        return ShardModel.open(new ServerContext().model("test").sizeBytes(SIZE).blockSizeBytes(4096).consistency("bsp")
            .learners(2).lease(LEASE).aggregator("test", aggregator).mayServe(() -> mayServe).clock(clock));
    }

    private static void join(ShardModel shard, Nexus nexus) {
        shard.target().nexusEstablished(nexus);
        shard.learners().join(nexus);
    }

    private void run(LeaseTimer timer, Duration time) {
        for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(PERIOD)) {
            clock.advance(PERIOD);
            timer.tick();
        }
    }

    @Test
    void learnerWithoutAConnectionIsRemovedWhenItsLeaseExpires() throws IOException {
        try (ShardModel shard = open(new SumAggregator())) {
            LeaseTimer timer = new LeaseTimer(shard, clock);
            join(shard, LEARNER);
            shard.target().nexusLost(LEARNER, false);
            run(timer, LEASE.minus(PERIOD));
            assertThat(shard.learners().member(LEARNER)).isNotNull();
            run(timer, PERIOD);
            assertThat(shard.learners().member(LEARNER)).isNull();
        }
    }

    @Test
    void pauseOfTheProcessExtendsTheLeases() throws IOException {
        try (ShardModel shard = open(new SumAggregator())) {
            LeaseTimer timer = new LeaseTimer(shard, clock);
            join(shard, LEARNER);
            shard.target().nexusLost(LEARNER, false);
            run(timer, PERIOD);
            clock.advance(LEASE.multipliedBy(2));
            timer.tick();
            assertThat(shard.learners().member(LEARNER)).isNotNull();
            run(timer, LEASE);
            assertThat(shard.learners().member(LEARNER)).isNull();
        }
    }

    @Test
    void leaseDoesNotEndWhileTheShardMayNotServe() throws IOException {
        try (ShardModel shard = open(new SumAggregator())) {
            LeaseTimer timer = new LeaseTimer(shard, clock);
            join(shard, LEARNER);
            shard.target().nexusLost(LEARNER, false);
            mayServe = false;
            run(timer, LEASE.multipliedBy(2));
            mayServe = true;
            run(timer, LEASE.minus(PERIOD));
            assertThat(shard.learners().member(LEARNER)).isNotNull();
            run(timer, PERIOD);
            assertThat(shard.learners().member(LEARNER)).isNull();
        }
    }

    @Test
    void timerTriesAgainToCloseRoundsAfterAnOutOfMemoryError() throws Exception {
        OutOfMemoryOnce aggregator = new OutOfMemoryOnce();
        try (ShardModel shard = open(aggregator)) {
            LeaseTimer timer = new LeaseTimer(shard, clock);
            Nexus other = FakeTask.nexus("b");
            join(shard, LEARNER);
            join(shard, other);
            LogicalUnit train = shard.target().units().get(0);
            train.write(new FakeTask(other, 0, SIZE).fill(1));
            shard.target().nexusLost(LEARNER, false);
            assertThatThrownBy(() -> run(timer, LEASE)).isInstanceOf(OutOfMemoryError.class);
            run(timer, PERIOD);
            assertThat(shard.consistency().rounds(0)).isEqualTo(1);
            assertThat(shard.consistency().rounds(1)).isEqualTo(1);
        }
    }

    private static final class OutOfMemoryOnce implements Aggregator {
        private boolean failed;

        @Override
        public void aggregate(
            BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale) {
            if (!failed) {
                failed = true;
                throw new OutOfMemoryError("simulated by the test");
            }
        }
    }
}
