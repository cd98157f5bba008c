package io.modeldisk.aggregator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HalfKernelsTest {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final int HALVES = 1 << 16;

    @AutoClose
    private final Arena arena = Arena.ofConfined();

    /** The two 16-bit types, each with a definition of its values that is independent of HalfKernels. */
    enum Type {
        BFLOAT16(8, 7), FLOAT16(5, 10);

        private final int exponentBits;
        private final int fractionBits;

        Type(int exponentBits, int fractionBits) {
            this.exponentBits = exponentBits;
            this.fractionBits = fractionBits;
        }

        int infinity() {
            return (1 << exponentBits) - 1 << fractionBits;
        }

        /**
         * Returns the value of 15 bits, without the sign, as IEEE 754 defines it. For infinity, returns the value that would
         * follow the largest finite value.
         */
        double value(int magnitude) {
            int exponent = magnitude >> fractionBits;
            int fraction = magnitude & (1 << fractionBits) - 1;
            int bias = (1 << exponentBits - 1) - 1;
            return exponent == 0
                ? Math.scalb((double) fraction, 1 - bias - fractionBits)
                : Math.scalb((double) fraction + (1 << fractionBits), exponent - bias - fractionBits);
        }

        /**
         * Returns the bits of the value that is nearest to a float32, by a search in all values. Double arithmetic is exact here.
         */
        int nearest(float value, double[] values) {
            double magnitude = Math.abs((double) value);
            int found = Arrays.binarySearch(values, magnitude);
            int nearest = found;
            if (found < 0) {
                int above = Math.min(-found - 1, infinity());
                double middle = (values[above - 1] + values[above]) / 2;
                boolean isUp = magnitude > middle || magnitude == middle && above % 2 == 0;
                nearest = isUp ? above : above - 1;
            }
            return nearest | (Float.floatToRawIntBits(value) < 0 ? 0x8000 : 0);
        }

        double[] numbers() {
            return IntStream.rangeClosed(0, infinity()).mapToDouble(this::value).toArray();
        }

        void widen(MemorySegment floats, long at, MemorySegment halves, long halvesAt, long count) {
            switch (this) {
                case BFLOAT16 -> HalfKernels.bfloat16ToFloat32(floats, at, halves, halvesAt, count);
                case FLOAT16 -> HalfKernels.float16ToFloat32(floats, at, halves, halvesAt, count);
            }
        }

        void narrow(MemorySegment halves, long at, MemorySegment floats, long floatsAt, long count) {
            switch (this) {
                case BFLOAT16 -> HalfKernels.float32ToBfloat16(halves, at, floats, floatsAt, count);
                case FLOAT16 -> HalfKernels.float32ToFloat16(halves, at, floats, floatsAt, count);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void every16BitValueIsExactInFloat32(Type type) {
        MemorySegment floats = widenAll(type);
        for (int half = 0; half < HALVES; half++) {
            float value = floats.getAtIndex(FLOAT, half);
            int magnitude = half & 0x7FFF;
            double sign = half < 0x8000 ? 1 : -1;
            if (magnitude > type.infinity()) {
                assertThat(value).as("%04X", half).isNaN();
            } else {
                double expected = magnitude == type.infinity() ? Double.POSITIVE_INFINITY : type.value(magnitude);
                assertThat((double) value).as("%04X", half).isEqualTo(sign * expected);
            }
            assertThat(Float.floatToRawIntBits(value) < 0).as("sign of %04X", half).isEqualTo(half >= 0x8000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void every16BitValueIsUnchangedAfterConversionToFloat32AndBack(Type type) {
        MemorySegment floats = widenAll(type);
        MemorySegment halves = arena.allocate(2L * HALVES);
        type.narrow(halves, 0, floats, 0, HALVES);
        int quiet = 1 << type.fractionBits - 1;
        for (int half = 0; half < HALVES; half++) {
            int expected = (half & 0x7FFF) > type.infinity() ? half | quiet : half;
            assertThat(halves.getAtIndex(SHORT, half) & 0xFFFF).as("%04X", half).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @EnumSource
    void float32IsRoundedToTheNearestValueWithTiesToEven(Type type) {
        double[] values = type.numbers();
        int[] bits = IntStream.range(0, type.infinity()).flatMap(half -> {
            int at = Float.floatToRawIntBits((float) values[half]);
            int middle = Float.floatToRawIntBits((float) ((values[half] + values[half + 1]) / 2));
            return IntStream.of(at, at + 1, middle - 1, middle, middle + 1);
        }).flatMap(each -> IntStream.of(each, each | Integer.MIN_VALUE)).toArray();
        assertRounded(type, values, bits);
    }

    @ParameterizedTest
    @EnumSource
    void float32ValuesOfAllSizesAreRoundedToTheNearestValue(Type type) {
        // A step by a prime number visits all exponents with many different fractions.
        int[] bits = IntStream.range(0, 1 << 20).map(i -> i * 4093)
            .filter(each -> Float.isFinite(Float.intBitsToFloat(each))).toArray();
        assertRounded(type, type.numbers(), bits);
    }

    @ParameterizedTest
    @EnumSource
    void float32TooLargeOrTooSmallFor16BitsBecomesInfinityOrZeroAndNanStaysNan(Type type) {
        float[] values = {Float.MAX_VALUE, -Float.MAX_VALUE, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
            Float.MIN_VALUE,
            -0f, Float.NaN, Float.intBitsToFloat(0x7F80_0001), Float.intBitsToFloat(0xFFFF_FFFF),
            Float.intBitsToFloat(0xFF80_0001)};
        int quiet = 1 << type.fractionBits - 1;
        int infinity = type.infinity();
        int all = (1 << type.fractionBits) - 1;
        int[] expected = {infinity, infinity | 0x8000, infinity, infinity | 0x8000, 0, 0x8000, infinity | quiet,
            infinity | quiet, infinity | all | 0x8000, infinity | quiet | 0x8000};
        MemorySegment floats = arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
        MemorySegment halves = arena.allocate(2L * values.length);
        type.narrow(halves, 0, floats, 0, values.length);
        for (int i = 0; i < values.length; i++) {
            assertThat(halves.getAtIndex(SHORT, i) & 0xFFFF).as("%08X", Float.floatToRawIntBits(values[i]))
                .isEqualTo(expected[i]);
        }
    }

    @ParameterizedTest
    @EnumSource
    void conversionOfARangeWritesTheSameBytesAsConversionsOfItsSingleValues(Type type) {
        MemorySegment floats = widenAll(type);
        for (int count = 0; count < 40; count++) {
            for (int shift = 0; shift < 3; shift++) {
                long from = 4L * (0x3800 + count) + 4L * shift;
                MemorySegment halves = arena.allocate(128).fill((byte) 0x5A);
                type.narrow(halves, 3 + shift, floats, from, count);
                MemorySegment singles = arena.allocate(128).fill((byte) 0x5A);
                for (int i = 0; i < count; i++) {
                    type.narrow(singles, 3 + shift + 2L * i, floats, from + 4L * i, 1);
                }
                assertThat(halves.mismatch(singles)).isEqualTo(-1);
                MemorySegment back = arena.allocate(256).fill((byte) 0x5A);
                type.widen(back, 1 + shift, halves, 3 + shift, count);
                MemorySegment singlesBack = arena.allocate(256).fill((byte) 0x5A);
                for (int i = 0; i < count; i++) {
                    type.widen(singlesBack, 1 + shift + 4L * i, halves, 3 + shift + 2L * i, 1);
                }
                assertThat(back.mismatch(singlesBack)).isEqualTo(-1);
            }
        }
    }

    @Test
    void rangeBeyondASegmentIsRefused() {
        MemorySegment floats = arena.allocate(64);
        MemorySegment halves = arena.allocate(32);
        assertThatThrownBy(() -> HalfKernels.float16ToFloat32(floats, 4, halves, 0, 16))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> HalfKernels.float32ToBfloat16(halves, 0, floats, 0, 17))
            .isInstanceOf(IndexOutOfBoundsException.class);
    }

    private MemorySegment widenAll(Type type) {
        MemorySegment halves = arena.allocate(2L * HALVES);
        for (int half = 0; half < HALVES; half++) {
            halves.setAtIndex(SHORT, half, (short) half);
        }
        MemorySegment floats = arena.allocate(4L * HALVES);
        type.widen(floats, 0, halves, 0, HALVES);
        return floats;
    }

    /** Compares all conversions with the result of the search: once in one vector call, and once value by value. */
    private void assertRounded(Type type, double[] values, int[] bits) {
        MemorySegment floats = arena.allocateFrom(ValueLayout.JAVA_INT, bits);
        MemorySegment halves = arena.allocate(2L * bits.length);
        type.narrow(halves, 0, floats, 0, bits.length);
        MemorySegment single = arena.allocate(2);
        for (int i = 0; i < bits.length; i++) {
            int expected = type.nearest(Float.intBitsToFloat(floats.getAtIndex(INT, i)), values);
            type.narrow(single, 0, floats, 4L * i, 1);
            if ((halves.getAtIndex(SHORT, i) & 0xFFFF) != expected || (single.get(SHORT, 0) & 0xFFFF) != expected) {
                assertThat(halves.getAtIndex(SHORT, i) & 0xFFFF).as("%08X", bits[i]).isEqualTo(expected);
                assertThat(single.get(SHORT, 0) & 0xFFFF).as("%08X", bits[i]).isEqualTo(expected);
            }
        }
    }
}
