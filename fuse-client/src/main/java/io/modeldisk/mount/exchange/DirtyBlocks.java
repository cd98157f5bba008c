package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A bit map of the logical blocks of a gradient or a file that were written, with 64 blocks in a word. Several threads may mark
 * blocks at the same time. Threads may clear marks at the same time only in different words. No thread may mark blocks while
 * another thread clears marks.
 */
public final class DirtyBlocks {
    private static final int BLOCK_BYTES = LogicalBlock.BYTES;

    private final AtomicLongArray words;
    private final long blocks;

    /** Creates a map of a range of this size, without marks. */
    public DirtyBlocks(long sizeBytes) {
        this.blocks = LogicalBlock.up(sizeBytes) / BLOCK_BYTES;
        this.words = new AtomicLongArray(Math.toIntExact((blocks + 63) / 64));
    }

    /** Marks the logical blocks that the range touches. */
    public void mark(long offset, long lengthBytes) {
        long last = (offset + lengthBytes - 1) / BLOCK_BYTES;
        for (long block = offset / BLOCK_BYTES; block <= last; block = (block | 63) + 1) {
            long bits = bits(block, Math.min(last, block | 63));
            int word = (int) (block >>> 6);
            if ((words.get(word) & bits) != bits) {
                words.getAndUpdate(word, old -> old | bits);
            }
        }
    }

    /** Clears the marks of the logical blocks of an aligned range. */
    void clear(long offset, long lengthBytes) {
        long last = (offset + lengthBytes) / BLOCK_BYTES - 1;
        for (long block = offset / BLOCK_BYTES; block <= last; block = (block | 63) + 1) {
            int word = (int) (block >>> 6);
            words.set(word, words.get(word) & ~bits(block, Math.min(last, block | 63)));
        }
    }

    /** Returns whether any logical block that the range touches is marked. */
    boolean any(long offset, long lengthBytes) {
        long last = (offset + lengthBytes - 1) / BLOCK_BYTES;
        for (long block = offset / BLOCK_BYTES; block <= last; block = (block | 63) + 1) {
            if ((words.get((int) (block >>> 6)) & bits(block, Math.min(last, block | 63))) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Marks the logical blocks that another map of the same range marks. */
    void addAll(DirtyBlocks other) {
        for (int i = 0; i < words.length(); i++) {
            words.set(i, words.get(i) | other.words.get(i));
        }
    }

    /** Clears the marks that another map of the same range has. */
    void removeAll(DirtyBlocks other) {
        for (int i = 0; i < words.length(); i++) {
            words.set(i, words.get(i) & ~other.words.get(i));
        }
    }

    /** Takes over the marks of another map of the same range. */
    void copy(DirtyBlocks other) {
        copy(other.words());
    }

    /** Clears all marks. */
    void clear() {
        for (int i = 0; i < words.length(); i++) {
            words.set(i, 0);
        }
    }

    /** Returns the number of marked bytes. */
    long bytes() {
        long count = 0;
        for (int i = 0; i < words.length(); i++) {
            count += Long.bitCount(words.get(i));
        }
        return count * BLOCK_BYTES;
    }

    /**
     * Returns the offset of the first logical block at or after this offset that is marked here and not in {@code excluded}, or
     * -1 if there is none.
     */
    long nextExcept(DirtyBlocks excluded, long offset) {
        long block = nextDifference(excluded, offset / BLOCK_BYTES, 0);
        return block < blocks ? block * BLOCK_BYTES : -1;
    }

    /** Returns the end of the range of such logical blocks that contains this offset. */
    long endExcept(DirtyBlocks excluded, long offset) {
        return Math.min(blocks, nextDifference(excluded, offset / BLOCK_BYTES, -1)) * BLOCK_BYTES;
    }

    private long nextDifference(DirtyBlocks excluded, long from, long inverted) {
        long block = from;
        while (block < blocks) {
            int index = (int) (block >>> 6);
            long word = (words.get(index) & ~excluded.words.get(index) ^ inverted) >>> block;
            if (word != 0) {
                return block + Long.numberOfTrailingZeros(word);
            }
            block = (block | 63) + 1;
        }
        return blocks;
    }

    /** Returns the offset of the first dirty logical block at or after this offset, or -1 if there is none. */
    public long nextDirty(long offset) {
        long block = next(offset / BLOCK_BYTES, 0);
        return block < blocks ? block * BLOCK_BYTES : -1;
    }

    /** Returns the offset of the first clean logical block at or after this offset, or the end of the last block. */
    public long nextClean(long offset) {
        return Math.min(blocks, next(offset / BLOCK_BYTES, -1)) * BLOCK_BYTES;
    }

    private long next(long from, long inverted) {
        long block = from;
        while (block < blocks) {
            long word = (words.get((int) (block >>> 6)) ^ inverted) >>> block;
            if (word != 0) {
                return block + Long.numberOfTrailingZeros(word);
            }
            block = (block | 63) + 1;
        }
        return blocks;
    }

    /** Returns the marks, in words of 64 bits. */
    long[] words() {
        long[] copy = new long[words.length()];
        Arrays.setAll(copy, words::get);
        return copy;
    }

    /** Takes over marks that {@link #words} of a map of the same range has returned. */
    void copy(long[] other) {
        for (int i = 0; i < words.length(); i++) {
            words.set(i, other[i]);
        }
    }

    /** Returns a mask with the bits of a range of blocks within one word. */
    private static long bits(long first, long last) {
        return -1L << first & -1L >>> 63 - last;
    }
}
