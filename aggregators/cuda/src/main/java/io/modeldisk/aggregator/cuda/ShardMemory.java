package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.aggregator.device.PushMemory;
import java.lang.foreign.MemorySegment;

/**
 * The memory of a shard on a device, and the host memory with which the device exchanges data. All parts are made at the start.
 */
final class ShardMemory {
    /** The number of state arrays of a block. Each array is as long as the weights. */
    final int stateArrays;
    private final DeviceBlock[] blocks;
    private final DeviceMemory[] weights;
    private final DeviceMemory[] sums;
    private final PinnedMemory[] mirrors;
    private final PinnedMemory[] pushes;
    private final DeviceMemory[] gradients;
    private final PinnedMemory loaded;
    /** Null if RDMA devices put no gradients into memory of the device. */
    private volatile ArrivalMemory arrivals;
    private final int blockSizeBytes;

    /**
     * Allocates the memory.
     *
     * @param places the number of operations whose data the memory can have at the same time
     */
    ShardMemory(CudaDevice device, DeviceShape shape, int stateArrays, boolean countsUpdates, int places) {
        this.stateArrays = stateArrays;
        this.blockSizeBytes = shape.blockSizeBytes();
        this.blocks = new DeviceBlock[shape.blocks()];
        DeviceMemory all = device.allocate(shape.sizeBytes());
        this.weights = new DeviceMemory[blocks.length];
        DeviceMemory state = stateArrays == 0 ? null : device.allocate(stateArrays * shape.sizeBytes());
        DeviceMemory sum = shape.withSums() ? device.allocate(shape.sizeBytes()) : null;
        this.sums = new DeviceMemory[sum == null ? 0 : blocks.length];
        for (int i = 0; i < blocks.length; i++) {
            long offset = (long) i * blockSizeBytes;
            int length = shape.lengthOf(i);
            weights[i] = all.slice(offset, shape.sizeBytes() - offset);
            blocks[i] = new DeviceBlock(all.slice(offset, length),
                state == null ? null : state.slice(stateArrays * offset, (long) stateArrays * length),
                countsUpdates ? shape.state().apply(i).asSlice((long) stateArrays * length) : null);
            if (sum != null) {
                sums[i] = sum.slice(offset, length);
            }
        }
        this.mirrors = mirrors(device, shape);
        this.pushes = new PinnedMemory[places];
        this.gradients = new DeviceMemory[places];
        PinnedMemory pushed = device.allocatePinned((long) places * blockSizeBytes);
        DeviceMemory received = device.allocate((long) places * blockSizeBytes);
        for (int i = 0; i < places; i++) {
            // A copy of several places begins at the first of them.
            pushes[i] = pushed.slice((long) i * blockSizeBytes, (long) (places - i) * blockSizeBytes);
            gradients[i] = received.slice((long) i * blockSizeBytes, (long) (places - i) * blockSizeBytes);
        }
        this.loaded = device.allocatePinned((long) Math.max(1, stateArrays) * blockSizeBytes);
        this.arrivals = shape.pushBytes() == 0 ? null : ArrivalMemory.allocate(device, shape.pushBytes());
    }

    private PinnedMemory[] mirrors(CudaDevice device, DeviceShape shape) {
        int count = 0;
        for (MemorySegment slab : shape.mirrors()) {
            count += (int) (slab.byteSize() / blockSizeBytes);
        }
        PinnedMemory[] parts = new PinnedMemory[count];
        int next = 0;
        for (MemorySegment slab : shape.mirrors()) {
            PinnedMemory pinned = device.register(slab);
            for (long offset = 0; offset + blockSizeBytes <= slab.byteSize(); offset += blockSizeBytes) {
                // A copy of several blocks begins at the first of them.
                parts[next++] = pinned.slice(offset, slab.byteSize() - offset);
            }
        }
        return parts;
    }

    /** Returns the device memory that a shard needs, in bytes. */
    static long deviceBytes(DeviceShape shape, int stateArrays, int places) {
        return shape.sizeBytes() * (1 + stateArrays + (shape.withSums() ? 1 : 0))
            + (long) places * shape.blockSizeBytes();
    }

    DeviceBlock block(int index) {
        return blocks[index];
    }

    /** The weights of a block and of all blocks after it. */
    DeviceMemory weightsFrom(int block) {
        return weights[block];
    }

    DeviceMemory sum(int block) {
        return sums[block];
    }

    /** The host memory from an offset of the mirrors to the end of its slab, for a copy of weights. */
    PinnedMemory mirror(long offset) {
        return mirrors[(int) (offset / blockSizeBytes)];
    }

    /** The host memory with the data of an operation, and of the operations in the next places. */
    PinnedMemory push(int place) {
        return pushes[place];
    }

    /** The device memory for the data of an operation, and of the operations in the next places. */
    DeviceMemory gradient(int place) {
        return gradients[place];
    }

    /** The device memory into which RDMA devices put gradients; null if there is none. */
    ArrivalMemory arrivals() {
        return arrivals;
    }

    PushMemory pushMemory() {
        ArrivalMemory memory = arrivals;
        return memory == null ? null : memory.pushMemory();
    }

    /** True if a gradient lies in the device memory into which RDMA devices put gradients. */
    boolean isForPushes(MemorySegment gradient) {
        ArrivalMemory memory = arrivals;
        return memory != null && memory.pushMemory().segment() == gradient;
    }

    long pushMemoryBytes() {
        ArrivalMemory memory = arrivals;
        return memory == null ? 0 : memory.memory().lengthBytes();
    }

    void freePushMemory() {
        ArrivalMemory memory = arrivals;
        arrivals = null;
        if (memory != null) {
            memory.free();
        }
    }

    /** Closes what the device does not close. */
    void close() {
        ArrivalMemory memory = arrivals;
        if (memory != null) {
            memory.close();
        }
    }

    /** The host memory for state and sums that the device returns. */
    PinnedMemory loaded() {
        return loaded;
    }
}
