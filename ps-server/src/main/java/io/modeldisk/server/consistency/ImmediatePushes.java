package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordKind;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.PieceVisitor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;

/**
 * A consistency mode that applies pushes as soon as they arrive: no push waits, and no round closes.
 *
 * <p>A push with a round number is applied only to logical blocks that its learner has not yet pushed in that round. If the
 * learner has started a later round of the block, the push is a repetition, because an initiator completes a round of a block
 * before it starts the next round. Logical blocks are changed and marked as pushed under one lock. If a push fails in the middle,
 * exactly its applied logical blocks are marked, so a repetition of the push applies only the other logical blocks. A push
 * without a round number is applied each time it arrives, and sets no marks.
 */
abstract class ImmediatePushes implements Consistency {
    final BlockStore store;
    final Learners learners;
    private final Aggregator aggregator;
    private final Visitor applying;
    private final Visitor skipping;
    /** Null if the shard keeps no records. */
    RecordLog records;

    ImmediatePushes(BlockStore store, Aggregator aggregator, Learners learners) {
        this.store = store;
        this.learners = learners;
        this.aggregator = aggregator;
        this.applying = new Visitor(true);
        this.skipping = new Visitor(false);
    }

    /** Applies a push of {@code learner}. If {@code skipped} is set, counts the push but does not apply its gradient. */
    final void take(IoTask task, Learner learner, boolean skipped) {
        if (task.isAbsent()) {
            passOver(task, learner);
            return;
        }
        store.visit(task, skipped ? skipping : applying, learner, store.typeOf(task, records != null));
        learner.pushed(task.dataBytes());
    }

    /** Marks the range of an ABSENT as pushed. An ABSENT has no data, so the store cannot pass it to a visitor. */
    private void passOver(IoTask task, Learner learner) {
        BlockLayout layout = store.layout();
        int last = layout.lastBlock(task.offset(), task.lengthBytes());
        for (int i = layout.blockOf(task.offset()); i <= last; i++) {
            int offset = layout.firstLogicalBlock(task.offset(), i) * LogicalBlock.BYTES;
            int end = layout.endLogicalBlock(task.offset(), task.lengthBytes(), i) * LogicalBlock.BYTES;
            Block block = store.block(i);
            try (ScopedLock.Held _ = block.hold()) {
                if (skipping.piece(task, learner, block, offset, null, 0, end - offset)) {
                    skipping.visited(block);
                }
                task.addAbsent(learner.marks().absent(i, task.round(), offset / LogicalBlock.BYTES,
                    end / LogicalBlock.BYTES));
            }
        }
    }

    @Override
    public final boolean synchronize(IoTask task) {
        return true;
    }

    @Override
    public final long rounds(int block) {
        return -1;
    }

    @Override
    public final void record(RecordLog log) {
        records = log;
    }

    @Override
    public final long recordBlock(ShardBlock block, long checkpoint) throws IOException {
        return BlockRecords.append(records, block, null, learners, checkpoint);
    }

    @Override
    public final void replayBlock(RecordHeader record, LongFunction<Learner> known) {
        BlockRecords.apply(record, null, known);
    }

    @Override
    public final void replay(RecordHeader record, Learner learner) throws DamagedRecordException {
        if (record.kind() != RecordKind.PUSH) {
            throw new DamagedRecordException(record + " is not a push, but only pushes are recorded under asp and ssp");
        }
        Block block = store.block(record.block());
        if (!record.has(RecordHeader.WITHOUT_DATA)) {
            block.apply(aggregator, roundOf(record.round(), block), record.offset(), record.memory(),
                record.bodyStart(),
                GradientType.FLOAT32, record.rangeBytes(), 1);
        }
        if (learner != null && record.round() != IoTask.IMPLIED_ROUND) {
            int from = record.offset() / LogicalBlock.BYTES;
            learner.mark(block.index(), record.round(), from, from + record.rangeBytes() / LogicalBlock.BYTES,
                block.lengthBytes() / LogicalBlock.BYTES);
        }
    }

    /** Returns the round for the aggregator: for a push without a round number, the number of the block's updates plus 1. */
    private static long roundOf(long round, Block block) {
        return round == IoTask.IMPLIED_ROUND ? block.version() + 1 : round;
    }

    private final class Visitor implements PieceVisitor<Learner> {
        private final boolean applies;

        Visitor(boolean applies) {
            this.applies = applies;
        }

        @Override
        public boolean piece(
            IoTask task, Learner learner, Block block, int offset, MemorySegment data, long dataOffset,
            int lengthBytes) {
            if (task.round() == IoTask.IMPLIED_ROUND) {
                apply(task, block, offset, data, dataOffset, lengthBytes);
                if (records != null) {
                    record(task, learner, block, offset, data, dataOffset, lengthBytes);
                }
                return true;
            }
            return applyOnce(task, learner, block, offset, data, dataOffset, lengthBytes);
        }

        private boolean applyOnce(
            IoTask task, Learner learner, Block block, int offset, MemorySegment data, long dataOffset,
            int lengthBytes) {
            int widening = store.typeOf(task, records != null).widening();
            long round = task.round();
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
                apply(task, block, start, data, dataOffset + (start - offset) / widening,
                    (end - from) * LogicalBlock.BYTES);
                // The round is recorded as opened before the mark is set. After the round is recorded, newcomers join only at
                // later rounds, so a pull of this round does not wait for newcomers.
                learners.opened(round);
                if (task.isAbsent()) {
                    task.addMarked(marks.leaveOut(index, round, from, end));
                }
                learner.mark(index, round, from, end, block.lengthBytes() / LogicalBlock.BYTES);
                if (records != null) {
                    record(task, learner, block, start, data, dataOffset + start - offset,
                        (end - from) * LogicalBlock.BYTES);
                }
                applied = true;
                from = marks.nextUnmarked(index, round, end, last);
            }
            return applied;
        }

        private void apply(
            IoTask task, Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes) {
            if (applies) {
                block.apply(aggregator, roundOf(task.round(), block), offset, data, dataOffset,
                    store.typeOf(task, records != null), lengthBytes, 1);
            }
        }

        private void record(
            IoTask task, Learner learner, Block block, int offset, MemorySegment data, long dataOffset,
            int lengthBytes) {
            int index = block.index();
            int end = (offset + lengthBytes) / LogicalBlock.BYTES;
            int endOfPush = store.layout().endLogicalBlock(task.offset(), task.lengthBytes(), index);
            // The version increases only after the last part of the push, in visited().
            boolean last = task.round() == IoTask.IMPLIED_ROUND
                ? end == endOfPush
                : learner.marks().nextUnmarked(index, task.round(), end, endOfPush) == endOfPush;
            long version = block.version() + (last ? 1 : 0);
            if (!applies) {
                records.pushWithoutData(index, offset, lengthBytes, learner.number(), task.round(), version);
            } else {
                records.push(index, offset, data, dataOffset, lengthBytes, learner.number(), task.round(), version);
            }
        }

        @Override
        public void visited(Block block) {
            block.updated();
        }
    }
}
