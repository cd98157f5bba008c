package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.AggregatorProvider;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.aggregator.HalfKernels;
import io.modeldisk.aggregator.cuda.FoldKernels.Work;
import io.modeldisk.aggregator.device.GradientType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the aggregators on a device with the aggregators of the CPU. */
class FoldKernelsTest {
    static final int SEEDS = Integer.getInteger("cuda.seeds", 50);
    private static final int BLOCK = TwinModel.LOGICAL_BLOCK;

    static Stream<String> specifications() {
        return Stream.of("sum", "assign", "null", "sgd:lr=0.1", "sgd:lr=0.1,weight-decay=0.01",
            "sgd:lr=0.1,clip-value=0.5",
            "sgd:lr=0.3,clip-value=0.7,weight-decay=0.1,schedule=cosine,rounds=4,warmup=1", "momentum:lr=0.1",
            "momentum:lr=0.1,momentum=0.7,clip-value=0.5,weight-decay=0.01",
            "nesterov:lr=0.1,clip-value=0.9,weight-decay=0.2",
            "adagrad:lr=0.1,clip-value=0.5", "rmsprop:lr=0.01,alpha=0.9,weight-decay=0.1", "adam:lr=0.01",
            "adam:lr=0.01,beta1=0.5,beta2=0.8,weight-decay=0.1,clip-value=0.4",
            "adamw:lr=0.01,weight-decay=0.3,eps=0.001", "sgd:lr=0.1,clip-norm=5", "sgd:lr=0.1,clip-norm=1e-6",
            "momentum:lr=0.1,clip-norm=20,weight-decay=0.1", "nesterov:lr=0.1,clip-norm=3",
            "adagrad:lr=0.1,clip-norm=1e20", "rmsprop:lr=0.1,clip-norm=1e-6",
            "adam:lr=0.01,clip-norm=1,weight-decay=0.1", "adamw:lr=0.01,clip-norm=1e-6");
    }

    @BeforeEach
    void setUp() {
        Emulator.reset(1);
    }

    @Test
    void testedSpecificationsIncludeEveryAggregatorOfTheCpu() {
        assertThat(specifications().map(text -> text.split(":")[0]).collect(Collectors.toSet())).containsAll(
            Aggregators.providers().stream().map(AggregatorProvider::name).toList());
    }

    @ParameterizedTest
    @MethodSource("specifications")
    void foldsOnTheDeviceGiveTheWeightsOfTheCpuInAnyOrderOfStreams(String specification) throws InterruptedException {
        Emulator.forEachSeed(SEEDS, seed -> {
            try (TwinModel model = new TwinModel(specification, seed)) {
                model.train(1 + (int) (seed % 4));
                model.assertSame();
            }
        });
    }

    @Test
    void bspRoundsOnTheDeviceGiveTheWeightsOfTheCpuInAnyOrderOfStreams() throws InterruptedException {
        Emulator.forEachSeed(SEEDS, seed -> {
            try (TwinModel model = new TwinModel("momentum:lr=0.1", seed)) {
                model.trainInRounds(2, 3);
                model.assertSame();
            }
        });
    }

    @Test
    void assignWithAFactorOfOneKeepsThePayloadOfANaN() throws InterruptedException {
        try (Aggregator assign = Aggregators.parse("assign"); CudaDevice device = CudaDevice.open(0, 1 << 20)) {
            PinnedMemory values = device.allocatePinned(BLOCK);
            for (int i = 0; i < BLOCK / Float.BYTES; i++) {
                values.segment().setAtIndex(ValueLayout.JAVA_INT, i, 0x7f912345 + i);
            }
            assertThat(applied(device, assign, values, GradientType.FLOAT32, 1).mismatch(values.segment()))
                .isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BFLOAT16", "FLOAT16"})
    void deviceConvertsEvery16BitValueLikeTheCpuIncludingTheBitsOfNans(GradientType type) throws InterruptedException {
        int count = 1 << Short.SIZE;
        long bytes = (long) count * Float.BYTES;
        try (Arena arena = Arena.ofConfined();
            Aggregator assign = Aggregators.parse("assign");
            CudaDevice device = CudaDevice.open(0, 1 << 20)) {
            PinnedMemory values = device.allocatePinned(bytes / 2);
            for (int i = 0; i < count; i++) {
                // The multiplication by an odd number produces every 16-bit value once, with different exponents next to each
                // other.
                values.segment().setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (i * 40_503));
            }
            MemorySegment expected = arena.allocate(bytes, 4);
            if (type == GradientType.BFLOAT16) {
                HalfKernels.bfloat16ToFloat32(expected, 0, values.segment(), 0, count);
            } else {
                HalfKernels.float16ToFloat32(expected, 0, values.segment(), 0, count);
            }
            assertThat(applied(device, assign, values, type, 1).mismatch(expected)).isEqualTo(-1);
        }
    }

    /** Applies a gradient to weights of 0 on the device, in round 1. Returns the new weights. */
    static MemorySegment applied(
        CudaDevice device, Aggregator aggregator, PinnedMemory gradient, GradientType type, float scale)
        throws InterruptedException {
        long gradientBytes = gradient.segment().byteSize();
        long bytes = gradientBytes * type.widening();
        FoldKernels kernels = new FoldKernels(device, aggregator, 1, 1);
        CudaStream stream = device.newStream();
        DeviceMemory weights = device.allocate(bytes);
        DeviceMemory onDevice = device.allocate(gradientBytes);
        stream.copyToDevice(gradient, onDevice, gradientBytes);
        stream.clear(weights);
        Batch batch = kernels.tryBegin(Work.FOLD);
        batch.fold(new DeviceBlock(weights, null, null), 0, onDevice, 0, type, bytes, scale, 1);
        batch.launch(stream);
        PinnedMemory result = device.allocatePinned(bytes);
        stream.copyToHost(weights, result, bytes);
        Emulator.awaitWork(device, stream);
        return result.segment();
    }

    @Test
    void batchRefusesARangeThatOverlapsOneOfItsRanges() {
        try (TwinModel model = new TwinModel("sum", 1)) {
            DeviceMemory memory = model.device.allocate(4 * BLOCK);
            DeviceMemory gradient = model.device.allocate(4 * BLOCK);
            Batch batch = model.kernels.tryBegin(Work.ACCUMULATE);
            assertThat(batch.accumulate(memory, BLOCK, gradient, 0, GradientType.FLOAT32, 2 * BLOCK, true)).isTrue();
            for (int start = 0; start < 4; start++) {
                for (int end = start + 1; end <= 4; end++) {
                    if (start < 3 && end > 1) {
                        assertThat(batch.accumulate(memory, start * BLOCK, gradient, 0, GradientType.FLOAT32,
                            (end - start) * BLOCK, true))
                            .as("the range from block %d to block %d is added", start, end).isFalse();
                    }
                }
            }
            assertThat(batch.accumulate(memory, 3 * BLOCK, gradient, 0, GradientType.FLOAT32, BLOCK, true)).isTrue();
            assertThat(batch.accumulate(memory, 0, gradient, 0, GradientType.FLOAT32, BLOCK, true)).isTrue();
            assertThat(batch.accumulate(memory, 0, gradient, 0, GradientType.FLOAT32, BLOCK, true)).isFalse();
            assertThat(batch.size()).isEqualTo(3);
        }
    }

    @Test
    void fullBatchRefusesAnotherRange() {
        try (TwinModel model = new TwinModel("sum", 1)) {
            DeviceMemory memory = model.device.allocate(9 * BLOCK);
            Batch batch = model.kernels.tryBegin(Work.ACCUMULATE);
            for (int i = 0; i < 8; i++) {
                assertThat(batch.accumulate(memory, i * BLOCK, memory, 8 * BLOCK, GradientType.FLOAT32, BLOCK, true))
                    .isTrue();
            }
            assertThat(batch.accumulate(memory, 8 * BLOCK, memory, 0, GradientType.FLOAT32, BLOCK, true)).isFalse();
        }
    }

    @Test
    void batchIsAvailableAgainOnlyAfterItsWorkIsComplete() throws InterruptedException {
        try (TwinModel model = new TwinModel("sum", 1)) {
            DeviceMemory memory = model.device.allocate(2 * BLOCK);
            Batch first = model.kernels.tryBegin(Work.ACCUMULATE);
            assertThat(model.kernels.tryBegin(Work.FOLD)).isNotNull();
            assertThat(model.kernels.tryBegin(Work.FOLD)).isNotNull();
            assertThat(model.kernels.tryBegin(Work.FOLD)).isNull();
            first.accumulate(memory, 0, memory, BLOCK, GradientType.FLOAT32, BLOCK, true);
            assertThatThrownBy(first::release).isInstanceOf(IllegalStateException.class);
            first.launch(model.folds);
            assertThat(Emulator.await(first::isComplete, 10_000)).isTrue();
            first.release();
            assertThat(model.kernels.tryBegin(Work.FOLD)).isSameAs(first);
        }
    }

    @Test
    void batchIsFilledLaunchedAndReleasedWithoutAllocatingJavaObjects() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (TwinModel model = new TwinModel("adam:lr=1", 1)) {
            DeviceBlock block = model.blocks.getFirst().onDevice;
            DeviceMemory gradient = model.device.allocate(BLOCK);
            PinnedMemory push = model.device.allocatePinned(BLOCK);
            long allocated = Long.MAX_VALUE;
            for (int i = 0; i < 20; i++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                model.folds.copyToDevice(push, gradient, BLOCK);
                Batch batch = model.kernels.tryBegin(Work.FOLD);
                boolean added = batch.fold(block, 0, gradient, 0, GradientType.FLOAT32, BLOCK, 1, 1);
                batch.launch(model.folds);
                while (!batch.isComplete()) {
                    Thread.onSpinWait();
                }
                batch.release();
                allocated = Math.min(allocated, threads.getCurrentThreadAllocatedBytes() - before);
                assertThat(added).isTrue();
            }
            // The first passes load classes, which allocates objects, so the minimum over all passes counts.
            assertThat(allocated).isZero();
        }
    }

    @Test
    void batchRefusesRangesThatTheKernelsCannotCompute() {
        try (TwinModel model = new TwinModel("adam:lr=1", 1)) {
            DeviceMemory memory = model.device.allocate(2 * BLOCK);
            DeviceBlock stateless = new DeviceBlock(memory, null, null);
            Batch batch = model.kernels.tryBegin(Work.FOLD);
            assertThatThrownBy(() -> batch.fold(stateless, 0, memory, 0, GradientType.FLOAT32, BLOCK, 1, 1))
                .hasMessageContaining("the aggregator needs " + 4 * BLOCK + " bytes and the update counters");
            assertThatThrownBy(() -> batch.accumulate(memory, 0, memory, BLOCK, GradientType.FLOAT32, BLOCK, true))
                .hasMessageContaining("for FOLD");
            DeviceBlock block = model.blocks.getFirst().onDevice;
            assertThatThrownBy(() -> batch.fold(block, 0, memory, 8, GradientType.FLOAT32, BLOCK, 1, 1))
                .hasMessageContaining("gradientOffset=8");
            assertThatThrownBy(() -> batch.fold(block, 0, memory, 0, GradientType.FLOAT32, 100, 1, 1))
                .hasMessageContaining("lengthBytes=100");
            assertThatThrownBy(() -> batch.fold(block, 0, memory, BLOCK, GradientType.FLOAT32, 2 * BLOCK, 1, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(
                () -> batch.fold(block, 0, memory, 2 * BLOCK - BLOCK / 2 + 16, GradientType.FLOAT16, BLOCK,
                    1, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(batch.size()).isZero();
        }
    }

    @Test
    void errorOfARefusedKernelContainsItsNameAndTheFirstLogLines() {
        try (CudaDevice device = CudaDevice.open(0, 1 << 20)) {
            assertThatThrownBy(() -> Kernel.load(device, new KernelCall("wrong", "wrong", 0))).hasMessageMatching(
                "cuModuleLoadDataEx of wrong.ptx on cuda:0 .* failed: CUDA_ERROR_INVALID_PTX \\(218\\): "
                    + ".*line 12.*nonsense.*; .*fatal.*");
        }
        assertThat(Emulator.leaked()).isZero();
    }

    @Test
    void aggregatorWithoutFormulaIsRefused() {
        Aggregator own = new Aggregator() {
            @Override
            public void aggregate(
                BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
                float scale) {}
        };
        try (CudaDevice device = CudaDevice.open(0, 1 << 20)) {
            assertThatThrownBy(() -> new FoldKernels(device, own, 1, 1))
                .hasMessage("this aggregator is not available on a GPU");
        }
    }
}
