package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;

/** Asynchronous consistency: a push is applied immediately, and a pull returns the latest weights. No task waits. */
public final class Asp extends ImmediatePushes {
    /** Creates the consistency mode for the blocks of {@code store}. */
    public Asp(BlockStore store, Aggregator aggregator, Learners learners) {
        super(store, aggregator, learners);
    }

    @Override
    public boolean push(IoTask task, boolean skipped) throws ScsiException {
        Learner learner = RoundRules.learner(learners, task);
        RoundRules.checkEnough(learners);
        take(task, learner, skipped);
        return true;
    }

    @Override
    public boolean admit(IoTask task) {
        return true;
    }

    @Override
    public long allowance() {
        return Long.MAX_VALUE;
    }
}
