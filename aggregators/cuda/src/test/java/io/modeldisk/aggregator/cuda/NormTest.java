package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.aggregator.cuda.FoldKernels.Work;
import io.modeldisk.platform.time.NanoClock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the norm of a gradient has the same bits as on the CPU. */
class NormTest {
    private static final int BLOCK = Aggregator.LOGICAL_BLOCK_BYTES;
    private static final int SEEDS = Math.ceilDiv(FoldKernelsTest.SEEDS, 10);

    /** The number that is added to a norm. */
    private static final double EPSILON = 1e-6;

    @BeforeEach
    void setUp() {
        Emulator.reset(1);
    }

    /** The kernel computes 64 logical blocks in a pass. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 63, 64, 65, 150})
    void squaresAreAddedInTheOrderOfTheCpu(int logicalBlocks) throws InterruptedException {
        int bytes = logicalBlocks * BLOCK;
        for (int seed = 1; seed <= SEEDS; seed++) {
            Emulator.reset(seed);
            try (Arena arena = Arena.ofConfined();
                Aggregator sgd = Aggregators.parse("sgd:lr=1,clip-norm=1e-19");
                CudaDevice device = CudaDevice.open(0, 4L * bytes, NanoClock.SYSTEM)) {
                PinnedMemory gradient = device.allocatePinned(bytes);
                fill(gradient.segment(), new SplittableRandom(seed));
                Weights expected = new Weights(arena.allocate(bytes, 64));
                // With a scale of -1, the factor is the limit divided by the small difference of EPSILON and the norm. So it
                // shows the last bits of the norm, which a float32 does not have otherwise.
                sgd.aggregate(expected, 0, gradient.segment(), 0, bytes, -1);
                PinnedMemory weights = device.allocatePinned(bytes);
                fold(device, sgd, gradient, weights);
                assertThat(weights.segment().mismatch(expected.weights())).as("seed %d: %s", seed, Emulator.message())
                    .isEqualTo(-1);
                float ratio = weights.segment().get(ValueLayout.JAVA_FLOAT, 0)
                    / gradient.segment().get(ValueLayout.JAVA_FLOAT, 0);
                assertThat(ratio).isStrictlyBetween(0.001f, 0.999f);
            }
        }
    }

    private static void fold(CudaDevice device, Aggregator aggregator, PinnedMemory gradient, PinnedMemory weights)
        throws InterruptedException {
        long bytes = gradient.segment().byteSize();
        FoldKernels kernels = new FoldKernels(device, aggregator, 1, 1);
        CudaStream stream = device.newStream();
        DeviceMemory deviceGradient = device.allocate(bytes);
        DeviceMemory deviceWeights = device.allocate(bytes);
        stream.copyToDevice(gradient, deviceGradient, bytes);
        stream.clear(deviceWeights);
        Batch batch = kernels.tryBegin(Work.FOLD);
        batch.fold(new DeviceBlock(deviceWeights, null, null), 0, deviceGradient, 0, bytes, -1, 1);
        batch.launch(stream);
        stream.copyToHost(deviceWeights, weights, bytes);
        CudaEvent copied = device.newEvent();
        stream.record(copied);
        assertThat(copied.await(60_000)).isTrue();
    }

    /** Writes random values of many sizes, whose norm is less than {@link #EPSILON} by only about 1e-12 of it. */
    private static void fill(MemorySegment gradient, SplittableRandom random) {
        int count = (int) (gradient.byteSize() / Float.BYTES);
        double rest = EPSILON * EPSILON;
        double size = EPSILON / Math.sqrt(2.0 * count);
        for (int i = 2; i < count; i++) {
            float value = (float) (size * random.nextGaussian() * Math.exp(-random.nextDouble(8)));
            gradient.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
            rest -= (double) value * value;
        }
        // Each of the first two values takes all but a millionth of the rest.
        for (int i = 0; i < 2; i++) {
            float value = (float) Math.sqrt(rest * (1 - 1e-6));
            gradient.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
            rest -= (double) value * value;
        }
    }

    /** A block without state. */
    private record Weights(MemorySegment weights) implements BlockMemory {
        @Override
        public MemorySegment state() {
            return MemorySegment.NULL;
        }

        @Override
        public long round() {
            return 1;
        }
    }
}
