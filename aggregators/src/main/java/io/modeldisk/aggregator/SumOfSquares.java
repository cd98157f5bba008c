package io.modeldisk.aggregator;

import static io.modeldisk.aggregator.Aggregator.LOGICAL_BLOCK_BYTES;
import static io.modeldisk.aggregator.FloatKernels.ORDER;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The sum of the squares of float32 values, in float64. The square of a float32 is exact in float64, and no sum is infinite if
 * the values are finite.
 *
 * <p>The order of the additions is fixed, so vectors of every width and a GPU get the same bits. Value i of a logical block
 * belongs to lane i mod 16. In each logical block, a lane adds its 64 squares in ascending order. These sums are added to the
 * sums s[0] to s[15] of the lanes of the whole range, logical block after logical block. At the end, there are 4 numbers
 * {@code t[k] = (s[k] + s[k + 4]) + (s[k + 8] + s[k + 12])}, and the result is {@code ((t[0] + t[1]) + t[2]) + t[3]}.
 */
final class SumOfSquares {
    // Vectors have at most 256 bits. The widening, not the sum, limits the speed.
    private static final boolean WIDE = DoubleVector.SPECIES_PREFERRED.vectorBitSize() >= 256;
    private static final VectorSpecies<Double> DOUBLES = WIDE ? DoubleVector.SPECIES_256 : DoubleVector.SPECIES_128;
    private static final VectorSpecies<Float> FLOATS = WIDE ? FloatVector.SPECIES_128 : FloatVector.SPECIES_64;

    /** A quarter of the lanes: the distance of two vectors that are added to each other at the end. */
    private static final int QUARTER_BYTES = 4 * Float.BYTES;
    private static final int ROW_BYTES = 4 * QUARTER_BYTES;
    private static final int ROWS = LOGICAL_BLOCK_BYTES / ROW_BYTES;

    private SumOfSquares() {}

    /** Returns the sum for a range in bytes, whose bounds are checked. {@code lengthBytes} is a multiple of 4096. */
    static double of(MemorySegment values, long offset, long lengthBytes) {
        MemorySegment from = FloatKernels.ofKnownClass(values);
        double sum = 0;
        // Vectors of 256 bits have all numbers t[k] at once. With vectors of 128 bits, a second pass computes t[2] and t[3].
        for (int column = 0; column < QUARTER_BYTES; column += FLOATS.vectorByteSize()) {
            DoubleVector sum0 = DoubleVector.zero(DOUBLES);
            DoubleVector sum1 = sum0;
            DoubleVector sum2 = sum0;
            DoubleVector sum3 = sum0;
            for (long block = 0; block < lengthBytes; block += LOGICAL_BLOCK_BYTES) {
                DoubleVector lanes0 = DoubleVector.zero(DOUBLES);
                DoubleVector lanes1 = lanes0;
                DoubleVector lanes2 = lanes0;
                DoubleVector lanes3 = lanes0;
                long start = offset + block + column;
                for (int row = 0; row < ROWS; row++) {
                    long at = start + row * ROW_BYTES;
                    lanes0 = addSquares(lanes0, from, at);
                    lanes1 = addSquares(lanes1, from, at + QUARTER_BYTES);
                    lanes2 = addSquares(lanes2, from, at + 2 * QUARTER_BYTES);
                    lanes3 = addSquares(lanes3, from, at + 3 * QUARTER_BYTES);
                }
                sum0 = sum0.add(lanes0);
                sum1 = sum1.add(lanes1);
                sum2 = sum2.add(lanes2);
                sum3 = sum3.add(lanes3);
            }
            DoubleVector quarter = sum0.add(sum1).add(sum2.add(sum3));
            for (int lane = 0; lane < DOUBLES.length(); lane++) {
                sum += quarter.lane(lane);
            }
        }
        return sum;
    }

    private static DoubleVector addSquares(DoubleVector sums, MemorySegment from, long offset) {
        DoubleVector values = (DoubleVector) FloatVector.fromMemorySegment(FLOATS, from, offset, ORDER)
            .convertShape(VectorOperators.F2D, DOUBLES, 0);
        // The product is exact, so the sum is rounded once on a processor without fused multiply-add too.
        return FloatKernels.FUSED ? values.fma(values, sums) : values.mul(values).add(sums);
    }
}
