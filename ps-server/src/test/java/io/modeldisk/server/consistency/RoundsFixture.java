package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.test.ManualClock;
import java.time.Duration;

/**
 * A shard with two blocks of two logical blocks and one block of one logical block. By default, the aggregator adds gradients.
 * Only {@link #expire} and the test advance the clock.
 */
final class RoundsFixture implements AutoCloseable {
    static final int PAGE = 4096;
    static final int BLOCK = 2 * PAGE;
    static final int SIZE = 2 * BLOCK + PAGE;

    final BlockStore store = new BlockStore(new BlockLayout(SIZE, BLOCK), 2, 0);
    static final Duration LEASE = Duration.ofSeconds(5);

    final ManualClock clock = new ManualClock();
    final Learners membership;
    final Consistency consistency;

    /** Creates the consistency mode of a shard. */
    @FunctionalInterface
    interface Mode {
        Consistency create(BlockStore store, Aggregator aggregator, Learners membership);
    }

    RoundsFixture(int learners) {
        this(learners, new SumAggregator());
    }

    RoundsFixture(int learners, Aggregator aggregator) {
        this(learners, aggregator, Bsp::new);
    }

    RoundsFixture(int learners, Aggregator aggregator, Mode mode) {
        this(learners, 0, aggregator, mode);
    }

    RoundsFixture(int learners, int minLearners, Aggregator aggregator, Mode mode) {
        membership = new Learners(learners, minLearners, LEASE, Integer.MAX_VALUE, store.layout(), clock);
        consistency = mode.create(store, aggregator, membership);
    }

    /** Creates a shard under ssp with this staleness in rounds. */
    static RoundsFixture stale(int staleness, int learners) {
        return stale(staleness, learners, new SumAggregator());
    }

    static RoundsFixture stale(int staleness, int learners, Aggregator added) {
        return new RoundsFixture(learners, added,
            (store, aggregator, membership) -> new Ssp(staleness, store, aggregator, membership));
    }

    Nexus connect(String name) {
        Nexus nexus = FakeTask.nexus(name);
        membership.connected(nexus);
        return nexus;
    }

    boolean push(Nexus learner, long offset, int lengthBytes, float value) throws ScsiException {
        return consistency.push(new FakeTask(learner, offset, lengthBytes).fill(value));
    }

    boolean pull(Nexus learner) throws ScsiException {
        return consistency.admitPull(new FakeTask(learner, 0, SIZE));
    }

    void leave(Nexus learner) {
        if (membership.left(learner)) {
            consistency.learnersLeft();
        }
    }

    void expire(Nexus learner) {
        membership.lost(learner);
        clock.advance(LEASE);
        if (!membership.expire().isEmpty()) {
            consistency.learnersLeft();
        }
    }

    float weight(long offset) {
        return Weights.at(store, offset);
    }

    @Override
    public void close() {
        consistency.close();
        store.close();
    }
}
