package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.aggregator.device.PushMemory;
import java.lang.foreign.MemorySegment;

/** A shard's memory on a device, and the host memory with which the device exchanges data. The constructor creates all slices. */
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
    /** The memory into which RDMA devices put gradients, or null if there is none. */
    private volatile ArrivalMemory arrivals;
    private final int blockSizeBytes;

    /** Allocates the memory. {@code places} is the maximum number of operations whose data is in it at the same time. */
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
            // One copy can cover several places, so each slice extends from its place to the end.
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
                // One copy can cover several blocks, so each slice extends from its block to the end of the slab.
                parts[next++] = pinned.slice(offset, slab.byteSize() - offset);
            }
        }
        return parts;
    }

    /** Returns the size in bytes of the device memory that a shard needs, without the memory for pushes. */
    static long deviceBytes(DeviceShape shape, int stateArrays, int places) {
        return shape.sizeBytes() * (1 + stateArrays + (shape.withSums() ? 1 : 0))
            + (long) places * shape.blockSizeBytes();
    }

    DeviceBlock block(int index) {
        return blocks[index];
    }

    /** The device memory from the weights of a block to the weights of the last block. */
    DeviceMemory weightsFrom(int block) {
        return weights[block];
    }

    DeviceMemory sum(int block) {
        return sums[block];
    }

    /** The host memory from an offset in the mirrors to the end of the slab, as the target for copies of weights. */
    PinnedMemory mirror(long offset) {
        return mirrors[(int) (offset / blockSizeBytes)];
    }

    /** The host memory for the data of the operation in a place, and in all later places. */
    PinnedMemory push(int place) {
        return pushes[place];
    }

    /** The device memory for the data of the operation in a place, and in all later places. */
    DeviceMemory gradient(int place) {
        return gradients[place];
    }

    ArrivalMemory arrivals() {
        return arrivals;
    }

    PushMemory pushMemory() {
        ArrivalMemory memory = arrivals;
        return memory == null ? null : memory.pushMemory();
    }

    /** Returns true if a gradient is in the device memory into which RDMA devices put gradients. */
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

    /** Closes the dma-buf. Closing the device frees all other memory. */
    void close() {
        ArrivalMemory memory = arrivals;
        if (memory != null) {
            memory.close();
        }
    }

    /** The host memory into which the device copies state and sums that the shard loads. */
    PinnedMemory loaded() {
        return loaded;
    }
}
