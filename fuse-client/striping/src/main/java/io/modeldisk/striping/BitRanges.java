package io.modeldisk.striping;

import java.util.Arrays;

/** A set of bits with operations on ranges. Allocates nothing after construction. Not thread-safe. */
final class BitRanges {
    private final long[] words;
    private final long size;

    BitRanges(long size) {
        this.size = size;
        this.words = new long[Math.toIntExact((size + Long.SIZE - 1) / Long.SIZE)];
    }

    /** The number of bits. */
    long size() {
        return size;
    }

    void set(long from, long end) {
        for (long i = from; i < end; i = (i | 63) + 1) {
            words[(int) (i >>> 6)] |= bits(i, Math.min(end - 1, i | 63));
        }
    }

    void clear(long from, long end) {
        for (long i = from; i < end; i = (i | 63) + 1) {
            words[(int) (i >>> 6)] &= ~bits(i, Math.min(end - 1, i | 63));
        }
    }

    void clear() {
        Arrays.fill(words, 0);
    }

    /** Returns the first set bit in the range; {@code end} if no bit is set. */
    long nextSet(long from, long end) {
        return next(from, end, 0);
    }

    /** Returns the first clear bit in the range; {@code end} if all bits are set. */
    long nextClear(long from, long end) {
        return next(from, end, -1);
    }

    private long next(long from, long end, long inverted) {
        for (long i = from; i < end; i = (i | 63) + 1) {
            long word = (words[(int) (i >>> 6)] ^ inverted) >>> i;
            if (word != 0) {
                return Math.min(end, i + Long.numberOfTrailingZeros(word));
            }
        }
        return end;
    }

    boolean any(long from, long end) {
        return nextSet(from, end) < end;
    }

    boolean all(long from, long end) {
        return nextClear(from, end) == end;
    }

    /** Adds these bits, except those that {@code without} has, to other bits. All have the same size. */
    void addTo(BitRanges other, BitRanges without) {
        for (int i = 0; i < words.length; i++) {
            other.words[i] |= words[i] & ~without.words[i];
        }
    }

    /** Returns the bits, in words of 64 bits. */
    long[] words() {
        return words.clone();
    }

    /** Takes over bits that {@link #words} of a set of the same size has returned. */
    void copy(long[] other) {
        System.arraycopy(other, 0, words, 0, words.length);
    }

    /** Returns a mask of the bits from {@code first} to {@code last}. Both bits must be in one word. */
    private static long bits(long first, long last) {
        return -1L << first & -1L >>> 63 - last;
    }
}
