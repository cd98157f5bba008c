package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.HalfKernels;
import io.modeldisk.aggregator.cuda.FoldKernels.Work;
import io.modeldisk.aggregator.device.GradientType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The same model twice: on the CPU and on a device. One stream copies gradients to the device, a second stream folds them, and a
 * third stream copies the weights back. Events order the streams.
 */
final class TwinModel implements AutoCloseable {
    static final int LOGICAL_BLOCK = Aggregator.LOGICAL_BLOCK_BYTES;

    private static final int MAX_BLOCKS = 5;
    private static final int MAX_LOGICAL_BLOCKS = 4;
    private static final int MAX_UPDATES = 4;
    private static final long TIMEOUT_MS = 60_000;
    private static final float[] SPECIAL = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
        Float.MIN_VALUE,
        -Float.MIN_VALUE, Float.MIN_NORMAL / 3, 0f, -0f, Float.MAX_VALUE, -Float.MAX_VALUE, 1e-30f, -1e-30f};
    /** The index in SPECIAL of the first finite value. */
    private static final int FINITE = 3;
    /** The factors of a gradient's values. With 1e-8, the norm is about 1e-6, like the number that is added to norms. */
    private static final float[] SIZES = {1, 1, 1e-8f, 1e20f};

    final CudaDevice device;
    final FoldKernels kernels;
    final List<Block> blocks = new ArrayList<>();
    final CudaStream arrivals;
    final CudaStream folds;
    final CudaStream mirrors;

    private final Aggregator aggregator;
    private final SplittableRandom random;
    private final Arena arena = Arena.ofShared();
    private final CudaEvent arrived;
    private final CudaEvent folded;
    private final CudaEvent mirrored;
    private final PinnedMemory pushes;
    private final MemorySegment widened;
    private final DeviceMemory gradients;
    private final List<Batch> launched = new ArrayList<>();
    private long pushed;

    /** One block on the CPU, in native memory, and the same block on the device. */
    final class Block extends HostBlock {
        final MemorySegment updates;
        final DeviceMemory deviceWeights;
        final DeviceMemory deviceState;
        final DeviceBlock onDevice;
        final PinnedMemory mirror;
        final PinnedMemory stateMirror;

        Block(long bytes) {
            super(arena, aggregator, arena.allocate(bytes, 64));
            for (long i = 0; i < bytes; i += Float.BYTES) {
                weights.set(ValueLayout.JAVA_FLOAT, i, (float) random.nextGaussian());
            }
            mirror = device.allocatePinned(bytes);
            deviceWeights = device.allocate(bytes);
            mirror.segment().copyFrom(weights);
            arrivals.copyToDevice(mirror, deviceWeights, bytes);
            long stateBytes = kernels.stateArrays() * bytes;
            deviceState = stateBytes == 0 ? null : device.allocate(stateBytes);
            stateMirror = stateBytes == 0 ? null : device.allocatePinned(stateBytes);
            updates = kernels.countsUpdates() ? arena.allocate(bytes / LOGICAL_BLOCK * Long.BYTES, 8) : null;
            if (deviceState != null) {
                arrivals.clear(deviceState);
            }
            onDevice = new DeviceBlock(deviceWeights, deviceState, updates);
        }
    }

    TwinModel(String specification, long seed) {
        random = new SplittableRandom(seed);
        aggregator = Aggregators.parse(specification);
        device = CudaDevice.open(0, 64 << 20);
        try {
            kernels = new FoldKernels(device, aggregator, 8, 3, 1 + random.nextInt(8));
            arrivals = device.newStream();
            folds = device.newStream();
            mirrors = device.newStream();
            arrived = device.newEvent();
            folded = device.newEvent();
            mirrored = device.newEvent();
            long bytes = (long) MAX_UPDATES * MAX_BLOCKS * MAX_LOGICAL_BLOCKS * LOGICAL_BLOCK;
            pushes = device.allocatePinned(bytes);
            widened = arena.allocate(bytes, 64);
            gradients = device.allocate(bytes);
            int count = 1 + random.nextInt(MAX_BLOCKS);
            for (int i = 0; i < count; i++) {
                blocks.add(new Block((1 + random.nextInt(MAX_LOGICAL_BLOCKS)) * (long) LOGICAL_BLOCK));
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Applies gradients to random ranges in up to {@value #MAX_UPDATES} rounds, and copies weights and state back. */
    void train(int updates) throws InterruptedException {
        for (long round = 1; round <= updates; round++) {
            Batch batch = begin(Work.FOLD);
            for (Block block : blocks) {
                int logicalBlocks = (int) (block.weights.byteSize() / LOGICAL_BLOCK);
                long offset = random.nextInt(logicalBlocks) * (long) LOGICAL_BLOCK;
                long bytes = piece(block.weights.byteSize() - offset);
                GradientType type = anyType();
                long at = push(type, bytes);
                float scale = random.nextBoolean() ? 1 : 1 / 3f;
                if (!batch.fold(block.onDevice, offset, gradients, at, type, bytes, scale, round)) {
                    launch(batch);
                    batch = begin(Work.FOLD);
                    assertThat(batch.fold(block.onDevice, offset, gradients, at, type, bytes, scale, round)).isTrue();
                }
                block.round = round;
                aggregator.aggregate(block, offset, widened, at, bytes, scale);
            }
            launch(batch);
        }
        mirror();
    }

    private GradientType anyType() {
        return GradientType.values()[random.nextInt(GradientType.values().length)];
    }

    /**
     * Creates a random gradient in {@link #pushes}, copies it to {@link #gradients} on the device, and returns its offset, which
     * is the same in both. {@link #widened} has the values as float32 at this offset.
     */
    private long push(GradientType type, long bytes) {
        long at = pushed;
        pushed += bytes;
        // Most gradients have only finite values, because one NaN or infinity determines the norm of the whole gradient.
        int firstSpecial = random.nextInt(3) == 0 ? 0 : FINITE;
        int distance = random.nextInt(3) == 0 ? 64 : Integer.MAX_VALUE;
        float size = SIZES[random.nextInt(SIZES.length)];
        for (long i = at; i < pushed; i += Float.BYTES) {
            float value = random.nextInt(distance) == 0
                ? SPECIAL[random.nextInt(firstSpecial, SPECIAL.length)]
                : size * (float) random.nextGaussian();
            widened.set(ValueLayout.JAVA_FLOAT, i, value);
        }
        narrow(type, at, bytes / Float.BYTES);
        long gradientBytes = type.gradientBytes(bytes);
        arrivals.copyToDevice(pushes.slice(at, gradientBytes), gradients.slice(at, gradientBytes), gradientBytes);
        return at;
    }

    /** Converts values of {@link #widened} to the type of the gradient in {@link #pushes}, and writes the rounded values back. */
    private void narrow(GradientType type, long at, long count) {
        MemorySegment pushed = pushes.segment();
        switch (type) {
            case FLOAT32 -> MemorySegment.copy(widened, at, pushed, at, count * Float.BYTES);
            case BFLOAT16 -> {
                HalfKernels.float32ToBfloat16(pushed, at, widened, at, count);
                HalfKernels.bfloat16ToFloat32(widened, at, pushed, at, count);
            }
            case FLOAT16 -> {
                HalfKernels.float32ToFloat16(pushed, at, widened, at, count);
                HalfKernels.float16ToFloat32(widened, at, pushed, at, count);
            }
        }
    }

    /**
     * Plays rounds of bsp. In each round, the first learner's gradient replaces the sum, the other learners' gradients are added
     * to it, and then the mean is applied to the weights.
     */
    void trainInRounds(int rounds, int learners) throws InterruptedException {
        Block block = Collections.max(blocks, Comparator.comparingLong(any -> any.weights.byteSize()));
        long bytes = block.weights.byteSize();
        MemorySegment sum = arena.allocate(bytes, 64);
        DeviceMemory deviceSum = device.allocate(bytes);
        PinnedMemory sumMirror = device.allocatePinned(bytes);
        for (long round = 1; round <= rounds; round++) {
            for (int learner = 0; learner < learners; learner++) {
                GradientType type = anyType();
                long at = push(type, bytes);
                Batch batch = begin(Work.ACCUMULATE);
                for (long offset = 0; offset < bytes;) {
                    long piece = piece(bytes - offset);
                    assertThat(batch.accumulate(deviceSum, offset, gradients, at + type.gradientBytes(offset), type,
                        piece, learner == 0)).isTrue();
                    offset += piece;
                }
                launch(batch);
                for (long i = 0; i < bytes; i += Float.BYTES) {
                    float value = widened.get(ValueLayout.JAVA_FLOAT, at + i);
                    sum.set(ValueLayout.JAVA_FLOAT, i,
                        learner == 0 ? value : sum.get(ValueLayout.JAVA_FLOAT, i) + value);
                }
            }
            Batch batch = begin(Work.FOLD);
            assertThat(batch.fold(block.onDevice, 0, deviceSum, 0, GradientType.FLOAT32, bytes, 1f / learners, round))
                .isTrue();
            launch(batch);
            block.round = round;
            aggregator.aggregate(block, 0, sum, 0, bytes, 1f / learners);
        }
        folds.copyToHost(deviceSum, sumMirror, bytes);
        mirror();
        assertSame("sum", sum, sumMirror.segment(), bytes);
    }

    /** Returns the length in bytes of a random number of whole logical blocks. */
    private long piece(long maxBytes) {
        return (1 + random.nextInt((int) (maxBytes / LOGICAL_BLOCK))) * (long) LOGICAL_BLOCK;
    }

    private Batch begin(Work work) throws InterruptedException {
        Batch batch = kernels.tryBegin(work);
        if (batch == null) {
            releaseOldest();
            batch = kernels.tryBegin(work);
        }
        return batch;
    }

    private void launch(Batch batch) {
        arrivals.record(arrived);
        folds.waitFor(arrived);
        batch.launch(folds);
        launched.add(batch);
    }

    private void releaseOldest() throws InterruptedException {
        Batch oldest = launched.removeFirst();
        assertThat(Emulator.await(oldest::isComplete, TIMEOUT_MS)).isTrue();
        oldest.release();
    }

    /** Copies the weights and the state to the host, and waits until the copies are complete. */
    private void mirror() throws InterruptedException {
        folds.record(folded);
        mirrors.waitFor(folded);
        for (Block block : blocks) {
            mirrors.copyToHost(block.deviceWeights, block.mirror, block.weights.byteSize());
            if (block.deviceState != null) {
                mirrors.copyToHost(block.deviceState, block.stateMirror, block.deviceState.lengthBytes());
            }
        }
        mirrors.record(mirrored);
        assertThat(Emulator.await(mirrored::isComplete, TIMEOUT_MS)).isTrue();
        while (!launched.isEmpty()) {
            releaseOldest();
        }
    }

    /** Checks that the weights and the state that were copied back from the device equal those on the CPU. */
    void assertSame() {
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            assertSame("weights of block " + i, block.weights, block.mirror.segment(), block.weights.byteSize());
            long stateBytes = block.deviceState == null ? 0 : block.deviceState.lengthBytes();
            if (stateBytes > 0) {
                assertSame("state of block " + i, block.state, block.stateMirror.segment(), stateBytes);
            }
            if (block.updates != null) {
                assertThat(block.updates.mismatch(block.state.asSlice(stateBytes, block.updates.byteSize())))
                    .isEqualTo(-1);
            }
        }
    }

    /** Compares the bits of the values. All NaNs count as equal. */
    private static void assertSame(String name, MemorySegment expected, MemorySegment actual, long bytes) {
        for (long i = 0; i < bytes; i += Float.BYTES) {
            float wanted = expected.get(ValueLayout.JAVA_FLOAT, i);
            float found = actual.get(ValueLayout.JAVA_FLOAT, i);
            if (Float.floatToIntBits(wanted) != Float.floatToIntBits(found)) {
                throw new AssertionError(
                    name + ": value " + i / Float.BYTES + " is " + found + ", but " + wanted + " on the CPU");
            }
        }
    }

    @Override
    public void close() {
        try {
            device.close();
        } finally {
            arena.close();
            aggregator.close();
        }
    }
}
