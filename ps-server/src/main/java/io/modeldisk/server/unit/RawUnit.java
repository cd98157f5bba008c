package io.modeldisk.server.unit;

import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.DiskUnit;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.PieceVisitor;
import io.modeldisk.server.shard.Shard;
import java.lang.foreign.MemorySegment;

/** LUN 1: the weights as a plain disk. A write replaces weights immediately, changes no version and belongs to no round. */
public final class RawUnit extends ShardUnit implements DiskUnit {
    /** The number of this logical unit. */
    public static final int LUN = 1;
    /** The product name in INQUIRY. */
    public static final String PRODUCT = "modeldisk raw";

    private final PieceVisitor<RawUnit> assignment = RawUnit::assign;

    RawUnit(Shard shard) {
        super(shard, ValueType.FLOAT32, LUN, PRODUCT);
    }

    @Override
    public void authorize(Nexus nexus, MediumAccess access) throws ScsiException {
        if (access.writes()) {
            nexus.require(Right.RAW, "a write of LUN 1");
        }
        if (access.reads() && !nexus.may(Right.RAW)) {
            nexus.require(Right.LEARN, "a read of LUN 1");
        }
    }

    @Override
    public boolean mayReset(Nexus nexus) {
        return nexus.may(Right.RAW);
    }

    @Override
    public boolean admitRead(IoTask task) {
        return true;
    }

    @Override
    boolean take(IoTask task) {
        shard().store().visit(task, assignment, this, GradientType.FLOAT32);
        shard().traffic().rawWrites.increment();
        return true;
    }

    private static boolean assign(
        IoTask task, RawUnit unit, Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes) {
        MemorySegment.copy(data, dataOffset, block.writable().weights(), offset, lengthBytes);
        RecordLog records = unit.shard().records();
        if (records != null) {
            records.raw(block.index(), offset, lengthBytes, data, dataOffset, lengthBytes, block.version());
        }
        return true;
    }

    @Override
    public long firstDifference(IoTask task) {
        Comparison comparison = new Comparison();
        shard().store().visit(task, comparison, null, GradientType.FLOAT32);
        return comparison.firstDifference;
    }

    /** Compares the data of a task with the weights, and records the offset of the first difference (-1 if none). */
    private static final class Comparison implements PieceVisitor<Void> {
        private long position;
        private long firstDifference = -1;

        @Override
        public boolean piece(
            IoTask task, Void context, Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes) {
            if (firstDifference < 0) {
                long difference = MemorySegment.mismatch(data, dataOffset, dataOffset + lengthBytes,
                    block.readable().weights(), offset, (long) offset + lengthBytes);
                firstDifference = difference < 0 ? -1 : position + difference;
            }
            position += lengthBytes;
            return false;
        }
    }

    @Override
    public long firstDifference(long offset, int lengthBytes, MemorySegment logicalBlock) {
        BlockLayout layout = shard().store().layout();
        Block block = shard().store().block(layout.blockOf(offset));
        int start = layout.offsetInBlock(offset);
        try (ScopedLock.Held _ = block.hold()) {
            MemorySegment weights = block.readable().weights();
            for (int at = 0; at < lengthBytes; at += LogicalBlock.BYTES) {
                long difference = MemorySegment.mismatch(logicalBlock, 0, LogicalBlock.BYTES,
                    weights, start + at, (long) start + at + LogicalBlock.BYTES);
                if (difference >= 0) {
                    return at + difference;
                }
            }
            return -1;
        }
    }

    @Override
    public boolean fill(IoTask task, long offset, int lengthBytes, MemorySegment logicalBlock) throws ScsiException {
        RecordLog records = shard().records();
        if (records != null && !records.reserve(task)) {
            return false;
        }
        try {
            fill(offset, lengthBytes, logicalBlock, records);
            return true;
        } finally {
            if (records != null) {
                records.release(task);
            }
        }
    }

    private void fill(long offset, int lengthBytes, MemorySegment logicalBlock, RecordLog records) {
        BlockLayout layout = shard().store().layout();
        Block block = shard().store().block(layout.blockOf(offset));
        shard().traffic().rawWrites.increment();
        try (ScopedLock.Held _ = block.hold()) {
            int start = layout.offsetInBlock(offset);
            MemorySegment range = block.writable().weights().asSlice(start, lengthBytes);
            if (logicalBlock == null) {
                range.fill((byte) 0);
            }
            for (int at = 0; at < lengthBytes && logicalBlock != null; at += LogicalBlock.BYTES) {
                MemorySegment.copy(logicalBlock, 0, range, at, LogicalBlock.BYTES);
            }
            if (records != null) {
                records.raw(block.index(), start, lengthBytes, logicalBlock == null ? MemorySegment.NULL : logicalBlock,
                    0, logicalBlock == null ? 0 : LogicalBlock.BYTES, block.version());
            }
        }
    }

    @Override
    boolean allTaken(IoTask task) {
        return true;
    }
}
