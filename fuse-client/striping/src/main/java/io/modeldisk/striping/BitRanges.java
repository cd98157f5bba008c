package io.modeldisk.striping;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * A set of bits with operations on ranges. Several threads can set bits at the same time, but no thread is allowed to set bits
 * while another thread clears bits of the same word of 64 bits. Allocates nothing after construction.
 */
public final class BitRanges {
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] words;
    private final long size;

    /** Creates a set of {@code size} bits, which are all clear. */
    public BitRanges(long size) {
        this.size = size;
        this.words = new long[Math.toIntExact((size + Long.SIZE - 1) / Long.SIZE)];
    }

    /** The number of bits. */
    public long size() {
        return size;
    }

    private long word(long bit) {
        return (long) WORDS.getAcquire(words, (int) (bit >>> 6));
    }

    /** Sets the bits of a range. */
    public void set(long from, long end) {
        for (long i = from; i < end; i = (i | 63) + 1) {
            long bits = bits(i, Math.min(end - 1, i | 63));
            if ((word(i) & bits) != bits) {
                WORDS.getAndBitwiseOr(words, (int) (i >>> 6), bits);
            }
        }
    }

    /** Clears the bits of a range. */
    public void clear(long from, long end) {
        for (long i = from; i < end; i = (i | 63) + 1) {
            WORDS.setRelease(words, (int) (i >>> 6), word(i) & ~bits(i, Math.min(end - 1, i | 63)));
        }
    }

    /** Clears all bits. */
    public void clear() {
        Arrays.fill(words, 0);
        VarHandle.releaseFence();
    }

    /** Returns the first set bit in the range; {@code end} if no bit is set. */
    public long nextSet(long from, long end) {
        return next(from, end, null, 0);
    }

    /** Returns the first clear bit in the range; {@code end} if all bits are set. */
    public long nextClear(long from, long end) {
        return next(from, end, null, -1);
    }

    /** Returns the first bit in the range that is set here and not in another set; {@code end} if there is none. */
    public long nextSetExcept(BitRanges excluded, long from, long end) {
        return next(from, end, excluded, 0);
    }

    /** Returns the first bit in the range that is clear here or set in another set; {@code end} if there is none. */
    public long nextClearExcept(BitRanges excluded, long from, long end) {
        return next(from, end, excluded, -1);
    }

    private long next(long from, long end, BitRanges excluded, long inverted) {
        for (long i = from; i < end; i = (i | 63) + 1) {
            long set = excluded == null ? word(i) : word(i) & ~excluded.word(i);
            long word = (set ^ inverted) >>> i;
            if (word != 0) {
                return Math.min(end, i + Long.numberOfTrailingZeros(word));
            }
        }
        return end;
    }

    /** Returns whether any bit of a range is set. */
    public boolean any(long from, long end) {
        return nextSet(from, end) < end;
    }

    /** Returns whether all bits of a range are set. */
    public boolean all(long from, long end) {
        return nextClear(from, end) == end;
    }

    /** Returns the number of set bits. */
    public long count() {
        return Arrays.stream(words).map(Long::bitCount).sum();
    }

    /** Sets the bits that are set in {@code other} but not in {@code without}, which can be null. All sets have the same size. */
    public void add(BitRanges other, BitRanges without) {
        for (long i = 0; i < size; i += Long.SIZE) {
            long added = without == null ? other.word(i) : other.word(i) & ~without.word(i);
            WORDS.setRelease(words, (int) (i >>> 6), word(i) | added);
        }
    }

    /** Clears the bits that are set in {@code other}, which has the same size. */
    public void remove(BitRanges other) {
        for (long i = 0; i < size; i += Long.SIZE) {
            WORDS.setRelease(words, (int) (i >>> 6), word(i) & ~other.word(i));
        }
    }

    /** Returns a copy of the bits, in words of 64 bits. */
    public long[] words() {
        return words.clone();
    }

    /** Replaces all bits by {@code other}, the {@link #words} of a set of the same size. */
    public void copy(long[] other) {
        System.arraycopy(other, 0, words, 0, words.length);
        VarHandle.releaseFence();
    }

    /** Returns a mask of the bits from {@code first} to {@code last}. Both bits must be in one word. */
    private static long bits(long first, long last) {
        return -1L << first & -1L >>> 63 - last;
    }
}
