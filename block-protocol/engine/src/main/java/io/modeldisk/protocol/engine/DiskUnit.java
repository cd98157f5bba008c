package io.modeldisk.protocol.engine;

import java.lang.foreign.MemorySegment;

/**
 * A logical unit that is a plain disk: a read returns what was written last. It has the commands that make sense only then:
 * VERIFY, WRITE AND VERIFY and WRITE SAME. Nothing of it waits.
 */
public interface DiskUnit extends LogicalUnit {
    /**
     * Compares the data of a task with what the medium holds in the task's range.
     *
     * @return where the first difference is, in bytes from the range's start; -1 if there is none
     */
    long firstDifference(IoTask task);

    /**
     * Compares each logical block of a range with one.
     *
     * @param offset where the range starts, in bytes, a multiple of 4096
     * @param lengthBytes how long it is: a multiple of 4096, not past the end of the shard's block that it starts in
     * @param block at least 4096 bytes, of which the first 4096 count
     * @return where the first difference is, in bytes from the range's start; -1 if there is none
     */
    long firstDifference(long offset, int lengthBytes, MemorySegment block);

    /**
     * Fills a range with copies of one logical block; with zeros if that is null.
     *
     * @param offset where the range starts, in bytes, a multiple of 4096
     * @param lengthBytes how long it is: a multiple of 4096, not past the end of the shard's block that it starts in
     * @param block at least 4096 bytes, of which the first 4096 count
     */
    void fill(long offset, int lengthBytes, MemorySegment block);
}
