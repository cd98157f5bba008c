package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.PieceVisitor;
import java.lang.foreign.MemorySegment;

/**
 * Pushes that are applied as they arrive. Thread-safe.
 *
 * <p>A push that names its round is applied to the logical blocks that its learner has not pushed in that round. A round below
 * the block's last one was pushed before, because an initiator begins a round of a block when the earlier ones are done. Each
 * block is marked under its lock as it is applied, so a push that fails half-way is completed by sending it again. A push that
 * names no round is applied each time it arrives, and marks nothing.
 */
final class ImmediatePushes {
    private static final Aggregator NOTHING = (block, offset, gradient, gradientOffset, lengthBytes, scale) -> {};

    private final BlockStore store;
    private final Learners learners;
    private final Visitor applying;
    private final Visitor skipping;

    ImmediatePushes(BlockStore store, Aggregator aggregator, Learners learners) {
        this.store = store;
        this.learners = learners;
        this.applying = new Visitor(aggregator);
        this.skipping = new Visitor(NOTHING);
    }

    /** Applies a push of this learner, or with {@code skipped} only counts it. */
    void take(IoTask task, Learner learner, boolean skipped) {
        store.visit(task, skipped ? skipping : applying, learner);
        learner.pushed(task.lengthBytes());
    }

    private final class Visitor implements PieceVisitor<Learner> {
        private final Aggregator aggregator;

        Visitor(Aggregator aggregator) {
            this.aggregator = aggregator;
        }

        @Override
        public boolean piece(
            IoTask task, Learner learner, Block block, int offset, MemorySegment data, long dataOffset,
            int lengthBytes) {
            if (task.round() == IoTask.IMPLIED_ROUND) {
                apply(block, offset, data, dataOffset, lengthBytes);
                return true;
            }
            return applyOnce(task.round(), learner, block, offset, data, dataOffset, lengthBytes);
        }

        private boolean applyOnce(
            long round, Learner learner, Block block, int offset, MemorySegment data, long dataOffset,
            int lengthBytes) {
            RoundMarks marks = learner.marks();
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
                // Before the learner's clock moves: a newcomer joins at a later round, so that no pull waits for it in this one.
                learners.opened(round);
                learner.mark(index, round, from, end, block.lengthBytes() / LogicalBlock.BYTES);
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
}
