package io.modeldisk.protocol.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Searches values in native memory for NaN and infinity. Allocates nothing. Thread-safe. */
public final class FiniteValues {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final int WITHOUT_SIGN = 0x7FFF_FFFF;
    private static final int WITHOUT_SHORT_SIGN = 0x7FFF;

    // The chunks are short, so greatestInt and greatestShort are called often enough to be compiled after a few gradients.
    private static final int CHUNK_BYTES = 4096;

    private FiniteValues() {}

    /**
     * Returns whether all values of a range are finite.
     *
     * @param offset the offset of the range in bytes
     * @param lengthBytes the length of the range, a multiple of a value's size
     * @param valueBytes the size of a value: 4 or 2
     * @param infinityBits the bits of positive infinity, as an integer
     */
    public static boolean areIn(DataMemory memory, long offset, long lengthBytes, int valueBytes, int infinityBits) {
        long at = offset;
        long leftBytes = lengthBytes;
        while (leftBytes > 0) {
            long inSlab = Math.min(leftBytes, memory.bytesLeftInSlab(at));
            if (!areIn(memory.slab(at), DataMemory.offsetInSlab(at), inSlab, valueBytes, infinityBits)) {
                return false;
            }
            at += inSlab;
            leftBytes -= inSlab;
        }
        return true;
    }

    @SuppressWarnings("restricted")
    static boolean areIn(MemorySegment segment, long offset, long lengthBytes, int valueBytes, int infinityBits) {
        // reinterpret() gives all segments the same Java class. With segments of two classes, the loop would be many times
        // slower.
        MemorySegment values = segment.asSlice(offset, lengthBytes).reinterpret(lengthBytes);
        for (long start = 0; start < lengthBytes; start += CHUNK_BYTES) {
            long end = Math.min(lengthBytes, start + CHUNK_BYTES);
            int greatest = valueBytes == Integer.BYTES
                ? greatestInt(values, start, end)
                : greatestShort(values, start, end);
            if (greatest >= infinityBits) {
                return false;
            }
        }
        return true;
    }

    // As integers without the sign bit, NaN and infinity are greater than all finite values. The JIT compiler vectorizes these
    // loops. The Vector API would not be faster, and every mount would have to load the incubator module of this API.
    private static int greatestInt(MemorySegment values, long start, long end) {
        int greatest = 0;
        for (long i = start; i < end; i += Float.BYTES) {
            greatest = Math.max(greatest, values.get(INT, i) & WITHOUT_SIGN);
        }
        return greatest;
    }

    private static int greatestShort(MemorySegment values, long start, long end) {
        int greatest = 0;
        for (long i = start; i < end; i += Short.BYTES) {
            greatest = Math.max(greatest, values.get(SHORT, i) & WITHOUT_SHORT_SIGN);
        }
        return greatest;
    }
}
