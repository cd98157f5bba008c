package io.modeldisk.bench.aggregator;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.cuda.Batch;
import io.modeldisk.aggregator.cuda.CudaDevice;
import io.modeldisk.aggregator.cuda.CudaEvent;
import io.modeldisk.aggregator.cuda.CudaStream;
import io.modeldisk.aggregator.cuda.DeviceBlock;
import io.modeldisk.aggregator.cuda.DeviceMemory;
import io.modeldisk.aggregator.cuda.FoldKernels;
import io.modeldisk.aggregator.cuda.FoldKernels.Work;
import io.modeldisk.aggregator.cuda.PinnedMemory;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.stream.IntStream;

/** Weights, gradients and state on a device, and pinned host memory for gradients and weights. Used by one thread. */
final class GpuModel implements AutoCloseable {
    static final int MOST_BLOCKS = 256;
    /** The maximum number of batches in flight. Then the host waits. */
    static final int IN_FLIGHT = 4;

    private static final long MOST_PINNED_BYTES = 256L << 20;
    private static final int MOST_PARTS = 1 << 16;
    private static final long WAIT_NS = 60_000_000_000L;
    private static final float VALUE = 0.5f;
    /** Batches need some device memory for their descriptors. */
    private static final long SPARE_BYTES = 8L << 20;

    final CudaDevice device;
    final DeviceMemory weights;
    final DeviceMemory gradients;
    final PinnedMemory pushes;
    final PinnedMemory mirrors;

    private final Arena arena = Arena.ofShared();
    private final FoldKernels kernels;
    private final MemorySegment updates;
    private final DeviceBlock block;
    private final CudaStream stream;
    private final CudaStream descriptors;
    private final CudaEvent[] staged = new CudaEvent[IN_FLIGHT];
    private final CudaEvent done;
    private final Deque<Batch> launched = new ArrayDeque<>();
    private long position;

    GpuModel(int ordinal, Aggregator aggregator, long bytes) throws IOException {
        long stateBytes = aggregator.stateBytesPerLogicalBlock() * (bytes / Aggregator.LOGICAL_BLOCK_BYTES);
        device = CudaDevice.open(ordinal, 2 * bytes + stateBytes + SPARE_BYTES, NanoClock.SYSTEM);
        try {
            kernels = new FoldKernels(device, aggregator, MOST_BLOCKS, IN_FLIGHT);
            weights = device.allocate(bytes);
            gradients = device.allocate(bytes);
            pushes = device.allocatePinned(Math.min(bytes, MOST_PINNED_BYTES));
            mirrors = device.allocatePinned(Math.min(bytes, MOST_PINNED_BYTES));
            stream = device.newStream();
            descriptors = device.newStream();
            done = device.newEvent();
            Arrays.setAll(staged, _ -> device.newEvent());
            DeviceMemory state = kernels.stateArrays() == 0 ? null : device.allocate(kernels.stateArrays() * bytes);
            if (state != null) {
                stream.clear(state);
            }
            updates = kernels.countsUpdates()
                ? arena.allocate(bytes / Aggregator.LOGICAL_BLOCK_BYTES * Long.BYTES, Long.BYTES)
                : null;
            block = new DeviceBlock(weights, state, updates);
            fill();
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private void fill() throws IOException {
        MemorySegment values = pushes.segment();
        for (long at = 0; at < values.byteSize(); at += Float.BYTES) {
            values.set(ValueLayout.JAVA_FLOAT, at, VALUE);
        }
        for (long at = 0; at < weights.lengthBytes();) {
            long piece = Math.min(values.byteSize(), weights.lengthBytes() - at);
            stream.copyToDevice(pushes, weights.slice(at, piece), piece);
            stream.copyToDevice(pushes, gradients.slice(at, piece), piece);
            at += piece;
        }
        finish(stream);
    }

    int stateArrays() {
        return kernels.stateArrays();
    }

    /** Sets the counters of updates to 0, so that all blocks have had the same number of updates. No batch is launched. */
    void forgetUpdates() {
        if (updates != null) {
            updates.fill((byte) 0);
        }
        position = 0;
    }

    /** Folds gradients in device memory into weights: launches of batches, one behind the other. */
    void fold(int launches, int blockBytes, int blocks) throws IOException {
        for (int i = 0; i < launches; i++) {
            Batch batch = begin();
            for (int n = 0; n < blocks; n++) {
                fold(batch, position, position, blockBytes);
                position = (position + blockBytes) % weights.lengthBytes();
            }
            // As in a shard, the descriptors are copied on another stream, so that the kernels follow each other.
            CudaEvent ready = staged[i % IN_FLIGHT];
            batch.stage(descriptors);
            descriptors.record(ready);
            stream.waitFor(ready);
            launch(batch, stream);
        }
        finish();
    }

    /** Copies pieces of the gradients to other device memory with the device's own copy function. */
    void copy(int copies, DeviceMemory[] from, DeviceMemory[] to) throws IOException {
        for (int i = 0; i < copies; i++) {
            stream.copyOnDevice(from[i % from.length], to[i % to.length], from[0].lengthBytes());
        }
        finish(stream);
    }

    /** Returns an empty batch. Waits for the oldest one if all are launched. */
    Batch begin() throws IOException {
        Batch batch = kernels.tryBegin(Work.FOLD);
        while (batch == null) {
            releaseOldest();
            batch = kernels.tryBegin(Work.FOLD);
        }
        return batch;
    }

    /** Adds a range of the weights to a batch. */
    void fold(Batch batch, long offset, long gradientOffset, int lengthBytes) {
        if (!batch.fold(block, offset, gradients, gradientOffset, lengthBytes, 1, 1)) {
            throw new IllegalStateException("the batch of " + batch.size() + " ranges refused one at " + offset);
        }
    }

    void launch(Batch batch, CudaStream on) {
        batch.launch(on);
        launched.add(batch);
    }

    /** Waits for all batches. */
    void finish() throws IOException {
        while (!launched.isEmpty()) {
            releaseOldest();
        }
    }

    private void releaseOldest() throws IOException {
        Batch oldest = launched.removeFirst();
        await(oldest::isComplete);
        oldest.release();
    }

    /** Waits for all work of a stream. */
    void finish(CudaStream of) throws IOException {
        of.record(done);
        await(done::isComplete);
    }

    private interface Condition {
        boolean holds();
    }

    /** Spins, since a thread that sleeps would add the time of its wake-up to the measurement. */
    private static void await(Condition condition) throws IOException {
        long begun = System.nanoTime();
        while (!condition.holds()) {
            if (System.nanoTime() - begun > WAIT_NS) {
                throw new IOException("the device has not finished its work in a minute");
            }
            Thread.onSpinWait();
        }
    }

    /** Returns the parts of a memory, without the rest. For very small parts, only the first ones. */
    static DeviceMemory[] parts(DeviceMemory memory, int partBytes) {
        return IntStream.range(0, count(memory.lengthBytes(), partBytes))
            .mapToObj(i -> memory.slice((long) i * partBytes, partBytes)).toArray(DeviceMemory[]::new);
    }

    static PinnedMemory[] parts(PinnedMemory memory, int partBytes) {
        return IntStream.range(0, count(memory.segment().byteSize(), partBytes))
            .mapToObj(i -> memory.slice((long) i * partBytes, partBytes)).toArray(PinnedMemory[]::new);
    }

    private static int count(long bytes, int partBytes) {
        return (int) Math.min(MOST_PARTS, bytes / partBytes);
    }

    @Override
    public void close() {
        try {
            device.close();
        } finally {
            arena.close();
        }
    }
}
