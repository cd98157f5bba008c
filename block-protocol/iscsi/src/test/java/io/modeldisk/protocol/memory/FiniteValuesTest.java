package io.modeldisk.protocol.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FiniteValuesTest {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final float[] NON_FINITE = {
        Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
        Float.intBitsToFloat(0xFFC0_0001), Float.intBitsToFloat(0x7F80_0001)};
    private static final float[] FINITE = {Float.MAX_VALUE, -Float.MAX_VALUE, Float.MIN_VALUE, -0f};

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 61})
    void nonFiniteValueIsFoundAtEveryPositionOfARange(int start) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(4096).fill((byte) 1);
            for (int floats = 0; floats <= 130; floats++) {
                int end = start + 4 * floats;
                assertThat(FiniteValues.areIn(values, start, end - start, 4, 0x7F80_0000)).isTrue();
                for (int at = start; at <= end; at += 4) {
                    float before = values.get(FLOAT, at);
                    for (float odd : NON_FINITE) {
                        values.set(FLOAT, at, odd);
                        assertThat(FiniteValues.areIn(values, start, end - start, 4, 0x7F80_0000))
                            .isEqualTo(at == end);
                    }
                    for (float even : FINITE) {
                        values.set(FLOAT, at, even);
                        assertThat(FiniteValues.areIn(values, start, end - start, 4, 0x7F80_0000)).isTrue();
                    }
                    values.set(FLOAT, at, before);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x7F80, 0x7C00})
    void halfPrecisionValueIsNonFiniteOnlyIfItsExponentIsTheHighest(int infinity) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(4096 + 130);
            for (int bits = 0; bits < 1 << 16; bits++) {
                int at = bits % 2113 * 2;
                values.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) bits);
                boolean finite = (bits & infinity) != infinity;
                assertThat(FiniteValues.areIn(values, 0, values.byteSize(), 2, infinity)).as("%04X", bits)
                    .isEqualTo(finite);
                values.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) 0);
            }
        }
    }

    @Test
    void nonFiniteValueIsFoundInTheSecondSlabOfARange() {
        try (DataMemory memory = DataMemory.allocate(DataMemory.SLAB_BYTES + 8192L)) {
            long start = DataMemory.SLAB_BYTES - 4096L;
            assertThat(FiniteValues.areIn(memory, start, 8192, 4, 0x7F80_0000)).isTrue();
            memory.slab(DataMemory.SLAB_BYTES).set(FLOAT, 4092, Float.NaN);
            assertThat(FiniteValues.areIn(memory, start, 8192, 4, 0x7F80_0000)).isFalse();
            assertThat(FiniteValues.areIn(memory, start, 8188, 4, 0x7F80_0000)).isTrue();
        }
    }
}
