package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.membership.Membership;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.PieceVisitor;
import java.lang.foreign.MemorySegment;

/**
 * Pushes that are applied as they come. Thread-safe.
 *
 * <p>A push that names its round is applied to the logical blocks that its learner has not pushed in that round; a round below
 * the block's last one has been pushed: an initiator begins a round of a block when those before are done. Each block is marked
 * as it is applied, under its lock, so a push that fails half-way is completed by sending it again. A push that names no round
 * is applied each time it comes, and marks nothing.
 */
final class ImmediatePushes implements PieceVisitor<LearnerProgress> {
    private final BlockStore store;
    private final Aggregator aggregator;
    private final Membership<Nexus, LearnerProgress> membership;

    ImmediatePushes(BlockStore store, Aggregator aggregator, Membership<Nexus, LearnerProgress> membership) {
        this.store = store;
        this.aggregator = aggregator;
        this.membership = membership;
    }

    /** Applies a push of this learner. */
    void apply(IoTask task, LearnerProgress progress) {
        store.visit(task, this, progress);
        progress.pushed(task.lengthBytes());
    }

    @Override
    public boolean piece(
        IoTask task, LearnerProgress progress, Block block, int offset, MemorySegment data, long dataOffset,
        int lengthBytes) {
        if (task.round() == IoTask.IMPLIED_ROUND) {
            apply(block, offset, data, dataOffset, lengthBytes);
            return true;
        }
        return applyOnce(task.round(), progress, block, offset, data, dataOffset, lengthBytes);
    }

    private boolean applyOnce(
        long round, LearnerProgress progress, Block block, int offset, MemorySegment data, long dataOffset,
        int lengthBytes) {
        RoundMarks marks = progress.marks();
        int index = block.index();
        if (round < marks.markedRound(index)) {
            return false;
        }
        boolean applied = false;
        int first = offset / LogicalBlock.BYTES;
        int last = first + lengthBytes / LogicalBlock.BYTES;
        int from = marks.nextUnmarked(index, round, first, last);
        while (from < last) {
            int end = marks.nextMarked(index, round, from, last);
            int start = from * LogicalBlock.BYTES;
            apply(block, start, data, dataOffset + start - offset, (end - from) * LogicalBlock.BYTES);
            // Before the learner counts as being there: a newcomer joins behind it, and holds nobody up.
            membership.opened(round);
            progress.mark(index, round, from, end, block.lengthBytes() / LogicalBlock.BYTES);
            applied = true;
            from = marks.nextUnmarked(index, round, end, last);
        }
        return applied;
    }

    private void apply(Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes) {
        aggregator.aggregate(block.writable(), offset, data, dataOffset, lengthBytes, 1);
    }

    @Override
    public void visited(Block block) {
        block.updated();
    }
}
