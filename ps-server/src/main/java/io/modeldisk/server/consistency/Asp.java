package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.record.DamagedRecordException;
import io.modeldisk.server.record.RecordHeader;
import io.modeldisk.server.record.RecordLog;
import java.io.IOException;
import java.util.function.LongFunction;

/**
 * Asynchronous consistency: a push is applied immediately ({@link ImmediatePushes}), and a pull returns the latest weights. No
 * task waits.
 */
public final class Asp implements Consistency {
    private final Learners membership;
    private final ImmediatePushes pushes;

    /** Creates the consistency mode for the blocks of {@code store}. */
    public Asp(BlockStore store, Aggregator aggregator, Learners membership) {
        this.membership = membership;
        this.pushes = new ImmediatePushes(store, aggregator, membership);
    }

    @Override
    public boolean push(IoTask task, boolean skipped) throws ScsiException {
        Learner learner = RoundRules.learner(membership, task);
        RoundRules.checkEnough(membership);
        pushes.take(task, learner, skipped);
        return true;
    }

    @Override
    public boolean admitPull(IoTask task) {
        return true;
    }

    @Override
    public boolean synchronize(IoTask task) {
        return true;
    }

    @Override
    public void forget(IoTask task) {
        // No task waits in this mode.
    }

    @Override
    public void learnersLeft() {
        // No task waits for learners in this mode.
    }

    @Override
    public int waiting() {
        return 0;
    }

    @Override
    public long allowance() {
        return Long.MAX_VALUE;
    }

    @Override
    public long rounds(int block) {
        return -1;
    }

    @Override
    public void record(RecordLog log) {
        pushes.record(log);
    }

    @Override
    public long recordBlock(Block block, long checkpoint) throws IOException {
        return pushes.recordBlock(block, checkpoint);
    }

    @Override
    public void replay(RecordHeader record, Learner learner) throws DamagedRecordException {
        pushes.replay(record, learner);
    }

    @Override
    public void replayBlock(RecordHeader record, LongFunction<Learner> learners) {
        BlockRecords.apply(record, null, learners);
    }
}
