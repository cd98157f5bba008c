package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * The device memory for the data of writes, in chunks of one size. If too few chunks are free, a write uses host memory and does
 * not wait. A wait could cause a deadlock: the writes that hold the chunks might wait for this write, for example because it
 * completes their round.
 *
 * <p>If a task was aborted or its connection was lost, the device can still read the task's chunks after the task has ended. A
 * returned chunk becomes free only when the device has completed all operations submitted before the return. Thread-safe.
 */
final class DevicePool {
    private final DeviceWrites device;
    // A ring of the chunks that no task holds, in the order of their return. For each chunk, {@code operations} contains the
    // number of the device operation that was the newest when the chunk was returned.
    private final long[] offsets;
    private final long[] operations;
    private int first;
    private int count;

    DevicePool(DeviceWrites device) {
        this.device = device;
        this.count = (int) (device.memory().bytes() / BufferPool.CHUNK_BYTES);
        this.offsets = new long[count];
        this.operations = new long[count];
        for (int i = 0; i < count; i++) {
            offsets[i] = (long) i * BufferPool.CHUNK_BYTES;
        }
    }

    DataMemory memory() {
        return device.memory();
    }

    /** Gives a task all chunks for its data and returns true, or returns false if too few chunks are free. */
    synchronized boolean take(TaskSlot task) {
        int wanted = task.deviceChunksWanted();
        if (wanted > count) {
            return false;
        }
        // The numbers of operations ascend, so if the last of the wanted chunks is free, the chunks before it are free too.
        if (wanted > 0 && operations[place(wanted - 1)] > device.lastDoneOperation()) {
            return false;
        }
        for (int i = 0; i < wanted; i++) {
            task.addDeviceChunk(offsets[first]);
            first = place(1);
            count--;
        }
        return true;
    }

    /** Returns a chunk to the pool. The caller ensures that no datamover and no later device operation uses the chunk. */
    synchronized void give(long offset) {
        int last = place(count);
        offsets[last] = offset;
        operations[last] = device.newestOperation();
        count++;
    }

    private int place(int index) {
        return (first + index) % offsets.length;
    }

    /** Returns the number of chunks that no task holds. */
    synchronized int idleChunks() {
        return count;
    }
}
