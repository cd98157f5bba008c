package io.modeldisk.server.block;

import java.lang.foreign.MemorySegment;

/** What to do with a write's data, part by part: each part lies in one block and is in one piece of memory. */
public interface PieceVisitor {
    /**
     * A part of the data, its block locked.
     *
     * @param block the block it is for
     * @param offset bytes from the block's start, a multiple of 4096
     * @param data the memory that holds it
     * @param dataOffset bytes from the segment's start
     * @param lengthBytes a multiple of 4096
     */
    void piece(Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes);

    /** All of the data for this block was visited; it is still locked. */
    default void visited(Block block) {}
}
