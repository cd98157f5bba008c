package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.membership.Membership;
import io.modeldisk.protocol.target.IoTask;
import io.modeldisk.protocol.target.Nexus;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.PieceVisitor;
import java.lang.foreign.MemorySegment;

/** Asynchronous: a push is applied at once, a pull returns the latest weights, and nothing waits. */
public final class Asp implements Consistency, PieceVisitor {
    private final BlockStore store;
    private final Aggregator aggregator;
    private final Membership<Nexus, LearnerProgress> membership;

    /** Serves the blocks of this store. */
    public Asp(BlockStore store, Aggregator aggregator, Membership<Nexus, LearnerProgress> membership) {
        this.store = store;
        this.aggregator = aggregator;
        this.membership = membership;
    }

    @Override
    public boolean push(IoTask task) {
        LearnerProgress progress = membership.join(task.nexus()).progress();
        store.visit(task, this);
        progress.pushed(task.lengthBytes());
        return true;
    }

    @Override
    public void piece(Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes) {
        aggregator.aggregate(block.writable(), offset, data, dataOffset, lengthBytes, 1);
    }

    @Override
    public void visited(Block block) {
        block.updated();
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
        // Nothing ever waits.
    }

    @Override
    public void learnersLeft() {
        // Nothing waits for learners.
    }

    @Override
    public int waiting() {
        return 0;
    }

    @Override
    public long rounds(int block) {
        return -1;
    }
}
