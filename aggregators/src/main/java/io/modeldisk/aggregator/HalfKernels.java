package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Converts arrays of float32 values to the 16-bit types bfloat16 and float16 (IEEE 754 binary16) and back, in native memory and
 * native byte order.
 *
 * <p>A conversion from 16 bits to float32 is exact, and keeps the bits of a NaN. A conversion from float32 to 16 bits rounds to
 * the nearest value of the type, and rounds a tie to the value whose last bit is 0. A value beyond the largest finite value
 * becomes an infinity. Subnormal values and the sign of zero are kept. A NaN becomes a quiet NaN that keeps its sign and the
 * first bits of its payload.
 *
 * <p>Offsets are in bytes and can have any value. The ranges must not overlap. A segment on the heap causes an
 * {@link UnsupportedOperationException}. No memory is allocated. Thread-safe for calls on different ranges.
 */
public final class HalfKernels {
    // Vectors have at most 256 bits. A vector of 16-bit values has the same number of lanes, and half the bits.
    private static final boolean WIDE = IntVector.SPECIES_PREFERRED.vectorBitSize() >= 256;
    private static final VectorSpecies<Integer> INTS = WIDE ? IntVector.SPECIES_256 : IntVector.SPECIES_128;
    private static final VectorSpecies<Float> FLOATS = WIDE ? FloatVector.SPECIES_256 : FloatVector.SPECIES_128;
    private static final VectorSpecies<Short> SHORTS = WIDE ? ShortVector.SPECIES_128 : ShortVector.SPECIES_64;
    private static final int LANES = INTS.length();

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private static final int WITHOUT_SIGN = 0x7FFF_FFFF;
    private static final int INFINITY = 0x7F80_0000;

    /** The number of float32 fraction bits that bfloat16 drops. BF16_HALF is half of bfloat16's last bit, minus one. */
    private static final int BF16_SHIFT = 16;
    private static final int BF16_HALF = 0x7FFF;
    private static final int BF16_QUIET = 0x0040;

    /** The number of float32 fraction bits that float16 drops. F16_HALF is half of float16's last bit, minus one. */
    private static final int F16_SHIFT = 13;
    private static final int F16_HALF = 0x0FFF;
    private static final int F16_SIGN = 0x8000;
    private static final int F16_INFINITY = 0x7C00;
    private static final int F16_QUIET = 0x7E00;
    private static final int F16_FRACTION = 0x03FF;
    /** The difference of the exponent biases of float32 and float16, shifted to the exponent of a float32. */
    private static final int F16_REBIAS = 127 - 15 << 23;
    /** The float32 bits of 2^-14, the smallest normal float16. F16_OVERFLOW is 2^16, which exceeds every finite float16. */
    private static final int F16_MIN_NORMAL = 127 - 14 << 23;
    private static final int F16_OVERFLOW = 127 + 16 << 23;
    /** The last bit of this float32 is 2^-24, as in a subnormal float16, so its addition rounds to a subnormal float16. */
    private static final float F16_SUBNORMAL_MAGIC = 0.5f;

    private HalfKernels() {}

    /** Converts {@code count} bfloat16 values of {@code src} to float32 values in {@code dst}. */
    public static void bfloat16ToFloat32(
        MemorySegment dst, long dstOffset, MemorySegment src, long srcOffset, long count) {
        MemorySegment to = checked(dst, dstOffset, count * Float.BYTES);
        MemorySegment from = checked(src, srcOffset, count * Short.BYTES);
        for (long i = 0; i < count; i += LANES) {
            IntVector half = widened(from, srcOffset + i * Short.BYTES, count - i);
            store(half.lanewise(VectorOperators.LSHL, BF16_SHIFT), to, dstOffset + i * Float.BYTES, count - i);
        }
    }

    /** Converts {@code count} float32 values of {@code src} to bfloat16 values in {@code dst}. */
    public static void float32ToBfloat16(
        MemorySegment dst, long dstOffset, MemorySegment src, long srcOffset, long count) {
        MemorySegment to = checked(dst, dstOffset, count * Short.BYTES);
        MemorySegment from = checked(src, srcOffset, count * Float.BYTES);
        for (long i = 0; i < count; i += LANES) {
            IntVector bits = load(from, srcOffset + i * Float.BYTES, count - i);
            IntVector upper = bits.lanewise(VectorOperators.LSHR, BF16_SHIFT);
            VectorMask<Integer> nan = bits.and(WITHOUT_SIGN).compare(VectorOperators.GT, INFINITY);
            IntVector rounded = bits.add(BF16_HALF).add(upper.and(1)).lanewise(VectorOperators.LSHR, BF16_SHIFT);
            storeNarrow(rounded.blend(upper.or(BF16_QUIET), nan), to, dstOffset + i * Short.BYTES, count - i);
        }
    }

    /** Converts {@code count} float16 values of {@code src} to float32 values in {@code dst}. */
    public static void float16ToFloat32(
        MemorySegment dst, long dstOffset, MemorySegment src, long srcOffset, long count) {
        MemorySegment to = checked(dst, dstOffset, count * Float.BYTES);
        MemorySegment from = checked(src, srcOffset, count * Short.BYTES);
        for (long i = 0; i < count; i += LANES) {
            IntVector half = widened(from, srcOffset + i * Short.BYTES, count - i);
            IntVector sign = half.and(F16_SIGN).lanewise(VectorOperators.LSHL, Short.SIZE);
            IntVector shifted = half.and(F16_SIGN - 1).lanewise(VectorOperators.LSHL, F16_SHIFT);
            IntVector normal = shifted.add(F16_REBIAS);
            // A subnormal value first gets the exponent of 2^-14. The subtraction of 2^-14 then removes the implied first bit.
            IntVector subnormal = shifted.add(F16_MIN_NORMAL).reinterpretAsFloats()
                .sub(Float.intBitsToFloat(F16_MIN_NORMAL)).reinterpretAsInts();
            IntVector bits = normal
                .blend(normal.add(F16_REBIAS), shifted.compare(VectorOperators.GE, F16_INFINITY << F16_SHIFT))
                .blend(subnormal, shifted.compare(VectorOperators.LT, F16_FRACTION + 1 << F16_SHIFT));
            store(bits.or(sign), to, dstOffset + i * Float.BYTES, count - i);
        }
    }

    /** Converts {@code count} float32 values of {@code src} to float16 values in {@code dst}. */
    public static void float32ToFloat16(
        MemorySegment dst, long dstOffset, MemorySegment src, long srcOffset, long count) {
        MemorySegment to = checked(dst, dstOffset, count * Short.BYTES);
        MemorySegment from = checked(src, srcOffset, count * Float.BYTES);
        for (long i = 0; i < count; i += LANES) {
            IntVector bits = load(from, srcOffset + i * Float.BYTES, count - i);
            IntVector magnitude = bits.and(WITHOUT_SIGN);
            IntVector sign = bits.lanewise(VectorOperators.LSHR, Short.SIZE).and(F16_SIGN);
            IntVector last = magnitude.lanewise(VectorOperators.LSHR, F16_SHIFT);
            IntVector normal = magnitude.add(F16_HALF - F16_REBIAS).add(last.and(1))
                .lanewise(VectorOperators.LSHR, F16_SHIFT);
            // The floating-point addition rounds to the last bit of a subnormal float16.
            IntVector subnormal = magnitude.reinterpretAsFloats().add(F16_SUBNORMAL_MAGIC).reinterpretAsInts()
                .sub(Float.floatToRawIntBits(F16_SUBNORMAL_MAGIC));
            IntVector half = normal
                .blend(subnormal, magnitude.compare(VectorOperators.LT, F16_MIN_NORMAL))
                .blend(F16_INFINITY, magnitude.compare(VectorOperators.GE, F16_OVERFLOW))
                .blend(last.and(F16_FRACTION).or(F16_QUIET), magnitude.compare(VectorOperators.GT, INFINITY));
            storeNarrow(half.or(sign), to, dstOffset + i * Short.BYTES, count - i);
        }
    }

    // In the next four methods, the last vector can have fewer values than lanes. Unused lanes are not read or written.

    private static IntVector load(MemorySegment from, long offset, long values) {
        return values >= LANES
            ? IntVector.fromMemorySegment(INTS, from, offset, ORDER)
            : IntVector.fromMemorySegment(INTS, from, offset, ORDER, INTS.indexInRange(0, values));
    }

    private static IntVector widened(MemorySegment from, long offset, long values) {
        ShortVector halves = values >= LANES
            ? ShortVector.fromMemorySegment(SHORTS, from, offset, ORDER)
            : ShortVector.fromMemorySegment(SHORTS, from, offset, ORDER, SHORTS.indexInRange(0, values));
        return (IntVector) halves.convertShape(VectorOperators.ZERO_EXTEND_S2I, INTS, 0);
    }

    private static void store(IntVector bits, MemorySegment to, long offset, long values) {
        if (values >= LANES) {
            bits.intoMemorySegment(to, offset, ORDER);
        } else {
            bits.intoMemorySegment(to, offset, ORDER, INTS.indexInRange(0, values));
        }
    }

    private static void storeNarrow(IntVector bits, MemorySegment to, long offset, long values) {
        ShortVector halves = (ShortVector) bits.convertShape(VectorOperators.I2S, SHORTS, 0);
        if (values >= LANES) {
            halves.intoMemorySegment(to, offset, ORDER);
        } else {
            halves.intoMemorySegment(to, offset, ORDER, SHORTS.indexInRange(0, values));
        }
    }

    /** Checks a range. Returns the segment with a class that the JIT compiler knows, like {@link FloatKernels#ofKnownClass}. */
    @SuppressWarnings("restricted")
    private static MemorySegment checked(MemorySegment segment, long offset, long lengthBytes) {
        Objects.checkFromIndexSize(offset, lengthBytes, segment.byteSize());
        return segment.reinterpret(segment.byteSize());
    }
}
