package io.modeldisk.fault.replica;

import io.modeldisk.fault.record.BlockStamps;
import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordKind;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.shard.ShardBlock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Appends and applies records of the kind {@link RecordKind#IMAGE}. The caller holds the lock of the block. */
public final class BlockImage {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The block index of a record that contains the history of the shard instead of a block. */
    public static final int NO_BLOCK = -1;

    private BlockImage() {}

    /** Appends a record with the number of the shard's history, and without a block. */
    public static void appendHistory(RecordLog log, long history) {
        log.append(RecordKind.IMAGE, RecordHeader.WITHOUT_DATA, NO_BLOCK, 0, 0, 0, history, 0, (_, _) -> {});
    }

    /** The length of the record of a block in bytes. */
    static long recordBytes(ShardBlock block) {
        return RecordHeader.recordBytes(BlockStamps.BYTES + block.lengthBytes() + block.stateBytes());
    }

    /** Appends the image of a block with its data. The BLOCK record of the same block must follow. */
    static void append(RecordLog log, ShardBlock block, BlockStamps stamps) {
        MemorySegment weights = block.readable().weights();
        MemorySegment state = block.state();
        int bodyBytes = (int) (BlockStamps.BYTES + block.lengthBytes() + state.byteSize());
        log.append(RecordKind.IMAGE, (byte) 0, block.index(), 0, 0, 0, block.version(), bodyBytes, (memory, start) -> {
            putStamp(stamps, block.index(), memory, start);
            long at = start + BlockStamps.BYTES;
            MemorySegment.copy(weights, 0, memory, at, block.lengthBytes());
            MemorySegment.copy(state, 0, memory, at + block.lengthBytes(), state.byteSize());
        });
    }

    /** Appends the image of a block without data. Returns the position of the record. */
    static long appendStamp(RecordLog log, int block, BlockStamps stamps) {
        return log.append(RecordKind.IMAGE, RecordHeader.WITHOUT_DATA, block, 0, 0, 0, 0, BlockStamps.BYTES,
            (memory, start) -> putStamp(stamps, block, memory, start));
    }

    private static void putStamp(BlockStamps stamps, int block, MemorySegment memory, long offset) {
        memory.set(LONG, offset, stamps.epoch(block));
        memory.set(LONG, offset + Long.BYTES, stamps.position(block));
    }

    /** Returns the epoch in the stamp of an image. */
    static long stampEpoch(RecordHeader record) {
        return record.memory().get(LONG, record.bodyStart());
    }

    /** Returns the position in the stamp of an image. */
    static long stampPosition(RecordHeader record) {
        return record.memory().get(LONG, record.bodyStart() + Long.BYTES);
    }

    /**
     * Replaces the contents of a block by the image in a record. The image must contain data.
     *
     * @throws DamagedRecordException if the image has another length than the block
     */
    public static void apply(RecordHeader record, ShardBlock block) throws DamagedRecordException {
        MemorySegment state = block.state();
        if (record.bodyBytes() != BlockStamps.BYTES + block.lengthBytes() + state.byteSize()) {
            throw new DamagedRecordException(record + " has " + record.bodyBytes() + " bytes, but the block has "
                + block.lengthBytes() + " bytes, and its aggregator state " + state.byteSize());
        }
        long at = record.bodyStart() + BlockStamps.BYTES;
        MemorySegment.copy(record.memory(), at, block.writable().weights(), 0, block.lengthBytes());
        MemorySegment.copy(record.memory(), at + block.lengthBytes(), state, 0, state.byteSize());
        block.restoreVersion(record.version());
    }
}
