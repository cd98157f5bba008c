package io.modeldisk.server.block;

import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;

/** The memory for the weights of one block. Guarded by the lock of its block. A spare slot is guarded by {@link SpareSlots}. */
final class BlockSlot implements BlockMemory {
    private final long memoryOffset;
    private final MemorySegment whole;
    private final MemorySegment shortened;
    private Block block;
    private MemorySegment weights;
    private int pins;

    /** Creates a slot at {@code memoryOffset}. {@code shortBytes} is the length of the last block of the shard. */
    BlockSlot(DataMemory memory, long memoryOffset, int blockSizeBytes, int shortBytes) {
        this.memoryOffset = memoryOffset;
        this.whole = memory.segment(memoryOffset, blockSizeBytes);
        this.shortened = shortBytes == blockSizeBytes ? whole : whole.asSlice(0, shortBytes);
    }

    /** Assigns this slot to a block. */
    void hold(Block owner) {
        block = owner;
        weights = owner.lengthBytes() == whole.byteSize() ? whole : shortened;
    }

    Block block() {
        return block;
    }

    long memoryOffset() {
        return memoryOffset;
    }

    boolean isPinned() {
        return pins > 0;
    }

    void pin() {
        pins++;
    }

    void unpin() {
        pins--;
    }

    @Override
    public MemorySegment weights() {
        return weights;
    }

    @Override
    public MemorySegment state() {
        return block.state();
    }

    @Override
    public long round() {
        return block.round();
    }
}
