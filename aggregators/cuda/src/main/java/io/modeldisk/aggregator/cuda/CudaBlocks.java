package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.cuda.OperationQueue.Kind;
import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.aggregator.device.PushMemory;
import io.modeldisk.platform.threads.ThreadName;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** The blocks of a shard on an NVIDIA GPU. A separate thread submits all work to the GPU. */
final class CudaBlocks implements DeviceBlocks {
    /** The maximum number of ranges in a launch: more than a block has logical blocks, because Adam can need a range for each. */
    private static final int FOLDS_PER_BATCH = 1024;
    private static final int MIN_PLACES = 64;
    private static final int MAX_PLACES = 4096;
    /** The size of the memory for data on the way to the device, if {@link #MIN_PLACES} and {@link #MAX_PLACES} allow it. */
    private static final int DATA_BYTES = 32 << 20;

    private final CudaDevice device;
    private final FoldKernels kernels;
    private final ShardMemory memory;
    private final OperationQueue queue;
    private final DeviceShape shape;
    private final long deviceBytes;
    private final Thread thread;
    /** Held while one thread loads state or a sum. */
    private final Object loading = new Object();

    private CudaBlocks(CudaDevice device, DeviceShape shape, long deviceBytes, int places) {
        this.device = device;
        this.shape = shape;
        this.deviceBytes = deviceBytes;
        this.kernels = new FoldKernels(device, shape.aggregator(), FOLDS_PER_BATCH, 2 * DevicePipeline.GROUPS);
        this.memory = new ShardMemory(device, shape, kernels.stateArrays(), kernels.countsUpdates(), places);
        this.queue = new OperationQueue(places, shape.clock());
        DevicePipeline pipeline = new DevicePipeline(device, shape, queue, memory, kernels);
        this.thread = ThreadName.DEVICE.builder(shape.name()).unstarted(pipeline);
    }

    private static int places(int blockSizeBytes) {
        return Integer.highestOneBit(Math.clamp(DATA_BYTES / blockSizeBytes, MIN_PLACES, MAX_PLACES));
    }

    /** Returns the size in bytes of the pinned host memory: data on the way to the device, loaded state, and descriptors. */
    static long hostBytes(int blockSizeBytes) {
        return (places(blockSizeBytes) + 2L) * blockSizeBytes
            + FoldKernels.deviceBytes(FOLDS_PER_BATCH, 2 * DevicePipeline.GROUPS);
    }

    /** Opens a device for a shard. */
    static CudaBlocks open(int ordinal, DeviceShape shape) {
        int places = places(shape.blockSizeBytes());
        int stateArrays = FoldKernels.stateArrays(shape.aggregator());
        long bytes = ShardMemory.deviceBytes(shape, stateArrays, places)
            + FoldKernels.deviceBytes(FOLDS_PER_BATCH, 2 * DevicePipeline.GROUPS);
        CudaDevice device = CudaDevice.open(ordinal, bytes + ArrivalMemory.deviceBytes(shape.pushBytes()));
        try {
            CudaBlocks blocks = new CudaBlocks(device, shape, bytes, places);
            blocks.thread.start();
            return blocks;
        } catch (RuntimeException | Error e) {
            CudaDevice.closeAfter(e, device);
            throw e;
        }
    }

    @Override
    public long fold(
        int block, long round, long offset, MemorySegment gradient, long gradientOffset, GradientType type,
        int lengthBytes, float scale) {
        return push(Kind.FOLD, block, offset, gradient, gradientOffset, type, lengthBytes, scale, round);
    }

    @Override
    public long accumulate(
        int block, long offset, MemorySegment gradient, long gradientOffset, GradientType type, int lengthBytes,
        boolean first) {
        return push(Kind.ACCUMULATE, block, offset, gradient, gradientOffset, type, lengthBytes, 1, first ? 1 : 0);
    }

    private long push(
        Kind kind, int block, long offset, MemorySegment data, long dataOffset, GradientType type, int lengthBytes,
        float scale, long value) {
        if (memory.isForPushes(data)) {
            return put(kind, block, offset, type, lengthBytes, scale, value, dataOffset);
        }
        long ticket = queue.reserve();
        boolean copied = false;
        try {
            MemorySegment.copy(data, dataOffset, memory.push(queue.operation(ticket).place()).segment(), 0,
                type.gradientBytes(lengthBytes));
            copied = true;
        } finally {
            // The device handles the tickets in order, so a reserved ticket must be filled even if the copy failed.
            queue.fill(ticket, copied ? kind : Kind.NOTHING, block, offset, type, lengthBytes, scale, value,
                OperationQueue.COPIED);
        }
        return ticket;
    }

    private long put(Kind kind, int block, long offset, int lengthBytes, float scale, long value) {
        return put(kind, block, offset, GradientType.FLOAT32, lengthBytes, scale, value, OperationQueue.COPIED);
    }

    private long put(
        Kind kind, int block, long offset, GradientType type, int lengthBytes, float scale, long value, long source) {
        long ticket = queue.reserve();
        queue.fill(ticket, kind, block, offset, type, lengthBytes, scale, value, source);
        return ticket;
    }

    @Override
    public long foldSum(int block, long round, long offset, int lengthBytes, float scale) {
        return put(Kind.FOLD_SUM, block, offset, lengthBytes, scale, round);
    }

    @Override
    public long mirror(int block, long mirrorOffset) {
        return put(Kind.MIRROR, block, 0, shape.lengthOf(block), 1, mirrorOffset);
    }

    @Override
    public void store(int block, MemorySegment weights) {
        int lengthBytes = shape.lengthOf(block);
        push(Kind.STORE_WEIGHTS, block, 0, weights, 0, GradientType.FLOAT32, lengthBytes, 1, 0);
        MemorySegment state = shape.state().apply(block);
        for (int i = 0; i < memory.stateArrays; i++) {
            push(Kind.STORE_STATE, block, 0, state, (long) i * lengthBytes, GradientType.FLOAT32, lengthBytes, 1, i);
        }
    }

    @Override
    public void loadState(int block) {
        int lengthBytes = memory.stateArrays * shape.lengthOf(block);
        if (lengthBytes > 0) {
            load(Kind.LOAD_STATE, block, lengthBytes, shape.state().apply(block), 0);
        }
    }

    @Override
    public void storeSum(int block, MemorySegment from, long fromOffset) {
        queue.awaitDone(queue.newest());
        push(Kind.STORE_SUM, block, 0, from, fromOffset, GradientType.FLOAT32, shape.lengthOf(block), 1, 0);
    }

    @Override
    public void loadSum(int block, MemorySegment to, long toOffset) {
        load(Kind.LOAD_SUM, block, shape.lengthOf(block), to, toOffset);
    }

    private void load(Kind kind, int block, int lengthBytes, MemorySegment to, long toOffset) {
        synchronized (loading) {
            queue.awaitDone(put(kind, block, 0, lengthBytes, 1, 0));
            MemorySegment.copy(memory.loaded().segment(), 0, to, toOffset, lengthBytes);
        }
    }

    @Override
    public PushMemory pushMemory() {
        return memory.pushMemory();
    }

    @Override
    public void freePushMemory() {
        memory.freePushMemory();
    }

    @Override
    public long newest() {
        return queue.newest();
    }

    @Override
    public long applied() {
        return queue.applied();
    }

    @Override
    public DeviceException failure() {
        return queue.failure();
    }

    @Override
    public void check() {
        queue.check();
    }

    @Override
    public void awaitDone(long ticket) {
        queue.awaitDone(ticket);
    }

    @Override
    public void listen(Runnable progress, Consumer<DeviceException> lost) {
        queue.listen(progress, lost);
    }

    @Override
    public long deviceBytes() {
        return deviceBytes + memory.pushMemoryBytes();
    }

    @Override
    public String toString() {
        return device.toString();
    }

    @Override
    public void close() {
        boolean failed = queue.failure() != null;
        queue.close();
        memory.close();
        if (!queue.awaitEnd()) {
            // The thread might still use the device, so the memory of the device stays allocated.
            throw new DeviceException(
                "the device " + device + " cannot be closed, because its thread did not stop in time", null);
        }
        try {
            device.close();
        } catch (CudaException e) {
            // After a failure of the device, the driver refuses all calls. The memory is freed when the process exits.
            if (!failed) {
                throw new DeviceException("the device " + device + " could not be closed: " + e.getMessage(), e);
            }
        }
    }
}
