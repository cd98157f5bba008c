package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which logical blocks of the gradient have been written: one bit each, 64 in a word. Marking is thread-safe. Threads that clear
 * must work on different words, while nobody marks.
 */
final class DirtyBlocks {
    private static final int BLOCK_BYTES = LogicalBlock.BYTES;

    private final AtomicLongArray words;
    private final long blocks;

    DirtyBlocks(long sizeBytes) {
        this.blocks = LogicalBlocks.up(sizeBytes) / BLOCK_BYTES;
        this.words = new AtomicLongArray(Math.toIntExact((blocks + 63) / 64));
    }

    /** Marks the logical blocks that the range touches. */
    void mark(long offset, long lengthBytes) {
        long last = (offset + lengthBytes - 1) / BLOCK_BYTES;
        for (long block = offset / BLOCK_BYTES; block <= last; block = (block | 63) + 1) {
            long bits = bits(block, Math.min(last, block | 63));
            int word = (int) (block >>> 6);
            if ((words.get(word) & bits) != bits) {
                words.getAndUpdate(word, old -> old | bits);
            }
        }
    }

    /** Unmarks the logical blocks of an aligned range. */
    void clear(long offset, long lengthBytes) {
        long last = (offset + lengthBytes) / BLOCK_BYTES - 1;
        for (long block = offset / BLOCK_BYTES; block <= last; block = (block | 63) + 1) {
            int word = (int) (block >>> 6);
            words.set(word, words.get(word) & ~bits(block, Math.min(last, block | 63)));
        }
    }

    /** The offset of the first dirty logical block at or after this offset, or -1. */
    long nextDirty(long offset) {
        long block = next(offset / BLOCK_BYTES, 0);
        return block < blocks ? block * BLOCK_BYTES : -1;
    }

    /** The offset of the first clean logical block at or after this offset, or the end of the last. */
    long nextClean(long offset) {
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

    /** The bits from one block to another of the same word. */
    private static long bits(long first, long last) {
        return -1L << first & -1L >>> 63 - last;
    }
}
