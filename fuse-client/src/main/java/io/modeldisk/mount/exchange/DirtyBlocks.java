package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.BitRanges;

/**
 * The logical blocks of a gradient or a file that were written. Several threads can mark blocks at the same time. Several threads
 * can clear marks at the same time only if the marks are in different words of 64 marks. No thread is allowed to mark blocks
 * while another thread clears marks.
 *
 * @param bits the marks, one for each logical block
 */
public record DirtyBlocks(BitRanges bits) {
    private static final int BLOCK_BYTES = LogicalBlock.BYTES;

    /** Creates an object for a gradient or a file of this size, without marks. */
    public DirtyBlocks(long sizeBytes) {
        this(new BitRanges(LogicalBlock.up(sizeBytes) / BLOCK_BYTES));
    }

    /** Marks the logical blocks that the range touches. */
    public void mark(long offset, long lengthBytes) {
        bits.set(offset / BLOCK_BYTES, end(offset, lengthBytes));
    }

    /** Clears the marks of the logical blocks of an aligned range. */
    void clear(long offset, long lengthBytes) {
        bits.clear(offset / BLOCK_BYTES, end(offset, lengthBytes));
    }

    /** Returns whether any logical block that the range touches is marked. */
    boolean any(long offset, long lengthBytes) {
        return bits.any(offset / BLOCK_BYTES, end(offset, lengthBytes));
    }

    private static long end(long offset, long lengthBytes) {
        return LogicalBlock.up(offset + lengthBytes) / BLOCK_BYTES;
    }

    /** Returns the number of marked bytes. */
    long bytes() {
        return bits.count() * BLOCK_BYTES;
    }

    /**
     * Returns the offset of the first logical block at or after this offset that is marked here and not in {@code excluded}, or
     * -1 if there is none.
     */
    long nextExcept(DirtyBlocks excluded, long offset) {
        return found(bits.nextSetExcept(excluded.bits, offset / BLOCK_BYTES, bits.size()));
    }

    /**
     * Returns the end of the range that begins at this offset, and whose logical blocks are all marked here but not in {@code
     * excluded}.
     */
    long endExcept(DirtyBlocks excluded, long offset) {
        return bits.nextClearExcept(excluded.bits, offset / BLOCK_BYTES, bits.size()) * BLOCK_BYTES;
    }

    /** Returns the offset of the first marked logical block at or after this offset, or -1 if there is none. */
    public long nextDirty(long offset) {
        return found(bits.nextSet(offset / BLOCK_BYTES, bits.size()));
    }

    private long found(long block) {
        return block < bits.size() ? block * BLOCK_BYTES : -1;
    }

    /** Returns the offset of the first logical block without a mark at or after this offset, or the end of the last block. */
    public long nextClean(long offset) {
        return bits.nextClear(offset / BLOCK_BYTES, bits.size()) * BLOCK_BYTES;
    }
}
