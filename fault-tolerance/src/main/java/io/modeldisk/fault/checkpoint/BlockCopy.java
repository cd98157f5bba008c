package io.modeldisk.fault.checkpoint;

import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory for a copy of a block, so the block can change before the copy is on disk. Has one owner at a time. */
final class BlockCopy {
    private final MemorySegment weights;
    private final MemorySegment state;
    private int index;
    private int lengthBytes;
    private long stateBytes;
    private long version;

    BlockCopy(int blockSizeBytes, int stateBytesPerLogicalBlock) {
        // The garbage collector frees the memory, because a thread that hangs in a write to a disk might still use it.
        this.weights = Arena.ofAuto().allocate(blockSizeBytes);
        this.state = Arena.ofAuto().allocate(LogicalBlock.in(blockSizeBytes) * stateBytesPerLogicalBlock);
    }

    /** Copies a block. The caller holds the lock of the block. */
    void take(ShardBlock block) {
        index = block.index();
        version = block.version();
        lengthBytes = block.lengthBytes();
        stateBytes = block.state().byteSize();
        MemorySegment.copy(block.readable().weights(), 0, weights, 0, lengthBytes);
        MemorySegment.copy(block.state(), 0, state, 0, stateBytes);
    }

    void writeTo(PartWriter writer) throws IOException {
        writer.write(index, version, weights.asSlice(0, lengthBytes), state.asSlice(0, stateBytes));
    }
}
