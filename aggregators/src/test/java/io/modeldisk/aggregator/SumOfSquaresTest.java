package io.modeldisk.aggregator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SumOfSquaresTest {
    private static final int BLOCK = Aggregator.LOGICAL_BLOCK_BYTES;
    private static final int LANES = 16;
    private static final int MOST_BLOCKS = 9;
    /** The number of calls after which the JIT compiler has compiled the loop to vector instructions. */
    private static final int CALLS = 20_000;

    @Test
    void sumEqualsTheSumOfAScalarLoopInTheSameOrder() {
        assertSums();
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 32})
    void sumIsTheSameWithVectorsOfEveryWidth(int vectorBytes) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:MaxVectorSize=" + vectorBytes, "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
            SumOfSquaresTest.class.getName()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }

    /** Compares the sums of the compiled vector loop with the sums of a scalar loop. */
    public static void main(String[] arguments) {
        MemorySegment values = randomValues(new Random(1), 1);
        double expected = scalarSum(values, 0, BLOCK);
        for (int i = 0; i < CALLS; i++) {
            assertThat(SumOfSquares.of(values, 0, BLOCK)).isEqualTo(expected);
        }
        assertSums();
    }

    @Test
    void squaresThatAreInfiniteInFloat32HaveAFiniteSum() {
        MemorySegment values = Arena.ofAuto().allocate(BLOCK);
        for (int i = 0; i < BLOCK / Float.BYTES; i++) {
            values.setAtIndex(ValueLayout.JAVA_FLOAT, i, Float.MAX_VALUE);
        }
        double sum = (double) Float.MAX_VALUE * Float.MAX_VALUE * BLOCK / Float.BYTES;
        assertThat(SumOfSquares.of(values, 0, BLOCK)).isCloseTo(sum, within(1e-12 * sum));
        values.set(ValueLayout.JAVA_FLOAT, 100, Float.NEGATIVE_INFINITY);
        assertThat(SumOfSquares.of(values, 0, BLOCK)).isEqualTo(Double.POSITIVE_INFINITY);
        values.set(ValueLayout.JAVA_FLOAT, 200, Float.NaN);
        assertThat(SumOfSquares.of(values, 0, BLOCK)).isNaN();
    }

    private static void assertSums() {
        Random random = new Random(2);
        for (int blocks = 1; blocks <= MOST_BLOCKS; blocks++) {
            MemorySegment values = randomValues(random, blocks + 1);
            long lengthBytes = (long) blocks * BLOCK;
            for (long offset : new long[]{0, 4, 100, BLOCK}) {
                assertThat(SumOfSquares.of(values, offset, lengthBytes)).as("%d blocks at %d", blocks, offset)
                    .isEqualTo(scalarSum(values, offset, lengthBytes));
            }
        }
    }

    /** Returns values of very different sizes, so a sum in another order has other bits. */
    private static MemorySegment randomValues(Random random, int blocks) {
        MemorySegment values = Arena.ofAuto().allocate((long) blocks * BLOCK, 64);
        for (int i = 0; i < blocks * BLOCK / Float.BYTES; i++) {
            float value = (float) (random.nextGaussian() * Math.exp(4 * random.nextGaussian()));
            values.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
        }
        return values;
    }

    /** Adds the squares in the order that the documentation of {@link SumOfSquares} defines. */
    private static double scalarSum(MemorySegment values, long offset, long lengthBytes) {
        double[] sums = new double[LANES];
        for (long block = offset; block < offset + lengthBytes; block += BLOCK) {
            double[] lanes = new double[LANES];
            for (int i = 0; i < BLOCK / Float.BYTES; i++) {
                double value = values.get(ValueLayout.JAVA_FLOAT, block + (long) i * Float.BYTES);
                lanes[i % LANES] += value * value;
            }
            for (int lane = 0; lane < LANES; lane++) {
                sums[lane] += lanes[lane];
            }
        }
        double[] t = new double[LANES / 4];
        for (int k = 0; k < t.length; k++) {
            t[k] = (sums[k] + sums[k + 4]) + (sums[k + 8] + sums[k + 12]);
        }
        return ((t[0] + t[1]) + t[2]) + t[3];
    }
}
