package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.BitRanges;

/**
 * The logical blocks of a gradient or a file that were written. Several threads may mark blocks at the same time. Threads may
 * clear marks at the same time only in different words of 64 blocks. No thread may mark blocks while another thread clears marks.
 */
public final class DirtyBlocks {
    private static final int BLOCK_BYTES = LogicalBlock.BYTES;

    private final BitRanges bits;

    /** Creates a map of a range of this size, without marks. */
    public DirtyBlocks(long sizeBytes) {
        this.bits = new BitRanges(LogicalBlock.up(sizeBytes) / BLOCK_BYTES);
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

    /** Marks the logical blocks that another map of the same range marks. */
    void addAll(DirtyBlocks other) {
        bits.add(other.bits, null);
    }

    /** Clears the marks that another map of the same range has. */
    void removeAll(DirtyBlocks other) {
        bits.remove(other.bits);
    }

    /** Takes over the marks of another map of the same range. */
    void copy(DirtyBlocks other) {
        copy(other.words());
    }

    /** Clears all marks. */
    void clear() {
        bits.clear();
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

    /** Returns the end of the range of such logical blocks that contains this offset. */
    long endExcept(DirtyBlocks excluded, long offset) {
        return bits.nextClearExcept(excluded.bits, offset / BLOCK_BYTES, bits.size()) * BLOCK_BYTES;
    }

    /** Returns the offset of the first dirty logical block at or after this offset, or -1 if there is none. */
    public long nextDirty(long offset) {
        return found(bits.nextSet(offset / BLOCK_BYTES, bits.size()));
    }

    private long found(long block) {
        return block < bits.size() ? block * BLOCK_BYTES : -1;
    }

    /** Returns the offset of the first clean logical block at or after this offset, or the end of the last block. */
    public long nextClean(long offset) {
        return bits.nextClear(offset / BLOCK_BYTES, bits.size()) * BLOCK_BYTES;
    }

    /** Returns the marks, in words of 64 bits. */
    long[] words() {
        return bits.words();
    }

    /** Takes over marks that {@link #words} of a map of the same range has returned. */
    void copy(long[] other) {
        bits.copy(other);
    }
}
