package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.HalfKernels;
import io.modeldisk.aggregator.device.GradientType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that the norm of a gradient has the same bits as on the CPU. */
class NormTest {
    private static final int BLOCK = Aggregator.LOGICAL_BLOCK_BYTES;
    private static final int SEEDS = Math.ceilDiv(FoldKernelsTest.SEEDS, 10);

    /** The number of values at the start of a gradient that bring its norm close to {@link #EPSILON}. */
    private static final int FIRST = 9;

    /** The number that the aggregators add to a norm. */
    private static final double EPSILON = 1e-6;

    @BeforeEach
    void setUp() {
        Emulator.reset(1);
    }

    static Stream<Arguments> gradients() {
        // The kernel processes 64 logical blocks in each pass, so these numbers test one, two and three passes.
        return Stream.of(1, 2, 63, 64, 65, 150).flatMap(blocks -> Stream
            .of(GradientType.FLOAT32, GradientType.BFLOAT16).map(type -> Arguments.of(blocks, type)));
    }

    @ParameterizedTest
    @MethodSource("gradients")
    void normOnTheDeviceHasTheSameBitsAsOnTheCpu(int logicalBlocks, GradientType type) throws InterruptedException {
        long bytes = (long) logicalBlocks * BLOCK;
        Emulator.forEachSeed(SEEDS, seed -> {
            try (Arena arena = Arena.ofConfined();
                Aggregator sgd = Aggregators.parse("sgd:lr=1,clip-norm=1e-19");
                CudaDevice device = CudaDevice.open(0, 4 * bytes)) {
                MemorySegment gradient = arena.allocate(bytes, 64);
                fill(gradient, type, new SplittableRandom(seed));
                PinnedMemory push = device.allocatePinned(type.gradientBytes(bytes));
                if (type == GradientType.FLOAT32) {
                    push.segment().copyFrom(gradient);
                } else {
                    HalfKernels.float32ToBfloat16(push.segment(), 0, gradient, 0, bytes / Float.BYTES);
                }
                HostBlock expected = new HostBlock(arena, sgd, arena.allocate(bytes, 64));
                // With a scale of -1, the factor is the limit divided by the tiny difference between EPSILON and the norm. The
                // factor therefore depends on the last bits of the float64 norm, which a float32 result would otherwise hide.
                sgd.aggregate(expected, 0, gradient, 0, bytes, -1);
                MemorySegment weights = FoldKernelsTest.applied(device, sgd, push, type, -1);
                assertThat(weights.mismatch(expected.weights)).as("the first differing byte").isEqualTo(-1);
                float ratio = weights.get(ValueLayout.JAVA_FLOAT, 0) / gradient.get(ValueLayout.JAVA_FLOAT, 0);
                assertThat(ratio).isStrictlyBetween(0.001f, 0.999f);
            }
        });
    }

    /**
     * Writes random values of very different sizes. Their norm is smaller than {@link #EPSILON}, but the relative difference is
     * only about 1e-12 to 1e-11.
     */
    private static void fill(MemorySegment gradient, GradientType type, SplittableRandom random) {
        int count = (int) (gradient.byteSize() / Float.BYTES);
        double rest = EPSILON * EPSILON;
        double size = EPSILON / Math.sqrt(2.0 * count);
        for (int i = FIRST; i < count; i++) {
            rest -= set(gradient, type, i, size * random.nextGaussian() * Math.exp(-random.nextDouble(8)));
        }
        // The square of each of these values is 95 % of the remaining difference.
        for (int i = 0; i < FIRST; i++) {
            rest -= set(gradient, type, i, Math.sqrt(rest * 0.95));
        }
    }

    /** Writes a value. For bfloat16, the last 16 bits of the float32 are cleared. Returns the square of the written value. */
    private static double set(MemorySegment gradient, GradientType type, int index, double value) {
        int bits = Float.floatToRawIntBits((float) value) & (type == GradientType.BFLOAT16 ? 0xFFFF_0000 : -1);
        gradient.setAtIndex(ValueLayout.JAVA_INT, index, bits);
        double written = Float.intBitsToFloat(bits);
        return written * written;
    }
}
