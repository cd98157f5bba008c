package io.modeldisk.server.consistency;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Adds float32 values in native byte order. */
final class FloatSum {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private FloatSum() {}

    /**
     * Adds values to a sum: {@code sum += values}. {@code lengthBytes} is a multiple of 4096, and therefore a multiple of every
     * vector size.
     */
    static void add(MemorySegment sum, long sumOffset, MemorySegment values, long valuesOffset, int lengthBytes) {
        for (int i = 0; i < lengthBytes; i += SPECIES.vectorByteSize()) {
            FloatVector.fromMemorySegment(SPECIES, sum, sumOffset + i, ORDER)
                .add(FloatVector.fromMemorySegment(SPECIES, values, valuesOffset + i, ORDER))
                .intoMemorySegment(sum, sumOffset + i, ORDER);
        }
    }
}
