package io.modeldisk.protocol.engine;

import java.lang.foreign.MemorySegment;

/**
 * A logical unit that is a plain disk: a read returns what was written last. So it also has VERIFY, WRITE AND VERIFY and WRITE
 * SAME. No method waits.
 */
public interface DiskUnit extends LogicalUnit {
    /**
     * Compares the data of a task with the medium in the task's range.
     *
     * @return the offset of the first difference from the range's start, in bytes; -1 if there is no difference
     */
    long firstDifference(IoTask task);

    /**
     * Compares each logical block of a range with one block.
     *
     * @param offset the start of the range in bytes, a multiple of 4096
     * @param lengthBytes the length of the range: a multiple of 4096, not past the end of the shard's block in which it starts
     * @param block at least 4096 bytes; the first 4096 are used
     * @return the offset of the first difference from the range's start, in bytes; -1 if there is no difference
     */
    long firstDifference(long offset, int lengthBytes, MemorySegment block);

    /**
     * Fills a range with copies of one logical block; with zeros if {@code block} is null.
     *
     * @param offset the start of the range in bytes, a multiple of 4096
     * @param lengthBytes the length of the range: a multiple of 4096, not past the end of the shard's block in which it starts
     * @param block at least 4096 bytes; the first 4096 are used
     */
    void fill(long offset, int lengthBytes, MemorySegment block);
}
