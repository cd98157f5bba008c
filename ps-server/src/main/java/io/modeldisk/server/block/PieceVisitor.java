package io.modeldisk.server.block;

import io.modeldisk.protocol.engine.IoTask;
import java.lang.foreign.MemorySegment;

/**
 * Receives the data of a write in parts. Each part belongs to one block and is contiguous in memory.
 *
 * @param <C> the type of the object that the caller of {@link BlockStore#visit} passes to the visitor
 */
public interface PieceVisitor<C> {
    /**
     * Receives a part of the data. The caller holds the lock of the block.
     *
     * @param offset the offset of the part in the block, in bytes; a multiple of 4096
     * @param dataOffset the offset of the part in {@code data}, in bytes
     * @param lengthBytes the length of the part in the block, a multiple of 4096; 16-bit data is half as long
     * @return whether the visitor has changed the block
     */
    boolean piece(
        IoTask task, C context, Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes);

    /** Receives a block after its last part, if the visitor has changed the block. The caller holds the lock of the block. */
    default void visited(Block block) {}
}
