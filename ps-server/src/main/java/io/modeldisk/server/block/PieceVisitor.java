package io.modeldisk.server.block;

import io.modeldisk.protocol.engine.IoTask;
import java.lang.foreign.MemorySegment;

/**
 * What to do with a write's data, part by part: each part lies in one block and is in one piece of memory.
 *
 * @param <C> what whoever visits passes on to the visitor
 */
public interface PieceVisitor<C> {
    /**
     * A part of the data, its block locked.
     *
     * @param task whose data it is
     * @param context what {@link BlockStore#visit} was given
     * @param block the block it is for
     * @param offset bytes from the block's start, a multiple of 4096
     * @param data the memory that holds it
     * @param dataOffset bytes from the segment's start
     * @param lengthBytes a multiple of 4096
     * @return whether it changed the block
     */
    boolean piece(
        IoTask task, C context, Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes);

    /** All of the data for this block was visited, and some of it changed the block, which is still locked. */
    default void visited(Block block) {}
}
