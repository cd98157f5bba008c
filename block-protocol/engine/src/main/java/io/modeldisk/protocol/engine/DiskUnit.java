package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.ScsiException;
import java.lang.foreign.MemorySegment;

/**
 * A logical unit that is a plain disk: a read returns the data that was written last. A disk also supports VERIFY, WRITE AND
 * VERIFY and WRITE SAME. No method blocks.
 */
public interface DiskUnit extends LogicalUnit {
    /**
     * Compares the data of a task with the medium in the task's range. Returns the offset of the first difference in bytes from
     * the start of the range, or -1 if there is no difference.
     */
    long firstDifference(IoTask task);

    /**
     * Compares each logical block of a range with one block.
     *
     * @param offset the start of the range in bytes, a multiple of 4096
     * @param lengthBytes the length of the range in bytes, a multiple of 4096; the range lies within one block of the shard
     * @param block the memory with the logical block to compare with: at least 4096 bytes, of which the first 4096 are used
     * @return the offset of the first difference in bytes from the start of the range, or -1 if there is no difference
     */
    long firstDifference(long offset, int lengthBytes, MemorySegment block);

    /**
     * Fills a range with copies of one logical block, or with zeros if {@code block} is null. Parks the task if the range cannot
     * be filled yet.
     *
     * @param task the task of the WRITE SAME command; the range of the command can be longer than the range to fill
     * @param offset the start of the range in bytes, a multiple of 4096
     * @param lengthBytes the length of the range in bytes, a multiple of 4096; the range lies within one block of the shard
     * @param block the memory with the logical block to copy: at least 4096 bytes, of which the first 4096 are used
     * @return false if the logical unit has parked the task; nothing was filled
     * @throws ScsiException if the range cannot be filled; the task then ends with CHECK CONDITION
     */
    boolean fill(IoTask task, long offset, int lengthBytes, MemorySegment block) throws ScsiException;
}
