package io.modeldisk.aggregator;

import static io.modeldisk.aggregator.Aggregator.LOGICAL_BLOCK_BYTES;
import static io.modeldisk.aggregator.FloatKernels.ORDER;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The sum of the squares of float32 values, in float64. The square of a float32 is exact in float64, and the sum of finite values
 * is finite.
 *
 * <p>The order of the additions is fixed, so the result has the same bits with vectors of every width and on a GPU. Value i of a
 * logical block belongs to lane i mod 16. In each logical block, the 64 squares of a lane are added in ascending order. The
 * results for the logical blocks are then added, in ascending order, to the sums s[0] to s[15] of the 16 lanes. At the end, there
 * are 4 numbers {@code t[k] = (s[k] + s[k + 4]) + (s[k + 8] + s[k + 12])}, and the result is
 * {@code ((t[0] + t[1]) + t[2]) + t[3]}.
 */
final class SumOfSquares {
    // Vectors have at most 256 bits, because the conversion to float64, not the addition, limits the speed.
    private static final boolean WIDE = DoubleVector.SPECIES_PREFERRED.vectorBitSize() >= 256;
    private static final VectorSpecies<Double> DOUBLES = WIDE ? DoubleVector.SPECIES_256 : DoubleVector.SPECIES_128;
    private static final VectorSpecies<Float> FLOATS = WIDE ? FloatVector.SPECIES_128 : FloatVector.SPECIES_64;

    /** The size of a quarter of the lanes, which is the distance between two vectors that are added at the end. */
    private static final int QUARTER_BYTES = 4 * Float.BYTES;
    private static final int ROW_BYTES = 4 * QUARTER_BYTES;
    private static final int ROWS = LOGICAL_BLOCK_BYTES / ROW_BYTES;

    private SumOfSquares() {}

    /** Returns the sum for a range of bytes whose bounds the caller has checked. {@code lengthBytes} is a multiple of 4096. */
    static double of(MemorySegment values, long offset, long lengthBytes) {
        MemorySegment from = FloatKernels.ofKnownClass(values);
        double sum = 0;
        // One vector of 256 bits holds all four numbers t[k]. With vectors of 128 bits, a second pass computes t[2] and t[3].
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
        // The product is exact, so even without fused multiply-add, the result is rounded only once.
        return FloatKernels.FUSED ? values.fma(values, sums) : values.mul(values).add(sums);
    }
}
