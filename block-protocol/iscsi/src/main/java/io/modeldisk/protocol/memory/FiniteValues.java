package io.modeldisk.protocol.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Searches float32 values in native memory for NaN and infinity. Allocates no objects. Thread-safe. */
public final class FiniteValues {
    private static final VectorSpecies<Integer> SPECIES = IntVector.SPECIES_PREFERRED.vectorBitSize() > 256
        ? IntVector.SPECIES_256
        : IntVector.SPECIES_PREFERRED;
    private static final int STEP_BYTES = 2 * SPECIES.vectorByteSize();
    // Without AVX2, the JIT compiler allocates an object for each vector.
    private static final boolean VECTORS = SPECIES.vectorBitSize() >= 256;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int WITHOUT_SIGN = 0x7FFF_FFFF;
    private static final int INFINITY_BITS = 0x7F80_0000;

    private FiniteValues() {}

    /**
     * Returns whether all values of a range are finite.
     *
     * @param offset the offset of the range in bytes
     * @param lengthBytes the length of the range, a multiple of 4
     */
    public static boolean areIn(DataMemory memory, long offset, long lengthBytes) {
        long at = offset;
        long leftBytes = lengthBytes;
        while (leftBytes > 0) {
            long inSlab = Math.min(leftBytes, memory.bytesLeftInSlab(at));
            if (!areIn(memory.slab(at), DataMemory.offsetInSlab(at), inSlab)) {
                return false;
            }
            at += inSlab;
            leftBytes -= inSlab;
        }
        return true;
    }

    @SuppressWarnings("restricted")
    static boolean areIn(MemorySegment segment, long offset, long lengthBytes) {
        // All segments get the same class here, because a second class would make the loops many times slower for all callers.
        MemorySegment values = segment.asSlice(offset, lengthBytes).reinterpret(lengthBytes);
        long vectorBytes = VECTORS ? lengthBytes - lengthBytes % STEP_BYTES : 0;
        return areVectorsFinite(values, vectorBytes) && areScalarsFinite(values, vectorBytes, lengthBytes);
    }

    // As integers without the sign bit, NaN and infinity are greater than finite values. Two maxima can be computed in
    // parallel.
    private static boolean areVectorsFinite(MemorySegment values, long end) {
        ByteOrder order = ByteOrder.nativeOrder();
        IntVector even = IntVector.zero(SPECIES);
        IntVector odd = IntVector.zero(SPECIES);
        for (long i = 0; i < end; i += STEP_BYTES) {
            IntVector first = IntVector.fromMemorySegment(SPECIES, values, i, order);
            IntVector second = IntVector.fromMemorySegment(SPECIES, values, i + STEP_BYTES / 2, order);
            even = even.max(first.and(WITHOUT_SIGN));
            odd = odd.max(second.and(WITHOUT_SIGN));
        }
        return even.max(odd).reduceLanes(VectorOperators.MAX) < INFINITY_BITS;
    }

    static boolean areScalarsFinite(MemorySegment values, long start, long end) {
        int greatest = 0;
        for (long i = start; i < end; i += Float.BYTES) {
            greatest = Math.max(greatest, values.get(INT, i) & WITHOUT_SIGN);
        }
        return greatest < INFINITY_BITS;
    }
}
