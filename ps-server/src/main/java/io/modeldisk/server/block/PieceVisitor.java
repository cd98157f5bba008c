package io.modeldisk.server.block;

import io.modeldisk.protocol.engine.IoTask;
import java.lang.foreign.MemorySegment;

/**
 * Is called for the data of a write, part by part: each part belongs to one block and is in one piece of memory.
 *
 * @param <C> an object that the caller of {@link BlockStore#visit} passes to the visitor
 */
public interface PieceVisitor<C> {
    /**
     * Takes a part of the data; its block is locked.
     *
     * @param task the write
     * @param context the object passed to {@link BlockStore#visit}
     * @param block the block it is for
     * @param offset bytes from the block's start, a multiple of 4096
     * @param data the memory that holds it
     * @param dataOffset bytes from the segment's start
     * @param lengthBytes a multiple of 4096
     * @return whether it changed the block
     */
    boolean piece(
        IoTask task, C context, Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes);

    /** Is called after the last part of a block if a part has changed the block, which is still locked. */
    default void visited(Block block) {}
}
