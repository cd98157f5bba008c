package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * The device memory for the data of writes, in chunks of one size. A write that finds too few free chunks uses host memory, so no
 * write waits here: the writes that have the chunks may wait for that write, for example because it completes a round.
 *
 * <p>The device reads a chunk later than its task ends if the task was aborted or its connection is lost, so a chunk that was
 * given back is free only after all operations that the device had at this time.
 *
 * <p>Thread-safe.
 */
final class DevicePool {
    private final DeviceWrites device;
    // A ring of the chunks that no task has, in the order in which they were given back.
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
        // The operations ascend, so the chunks before the last one are free if this one is.
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

    /** Takes a chunk back. No datamover uses it any more, and the device gets no further operation that reads it. */
    synchronized void give(long offset) {
        int last = place(count);
        offsets[last] = offset;
        operations[last] = device.newestOperation();
        count++;
    }

    private int place(int index) {
        return (first + index) % offsets.length;
    }

    /** Returns the number of chunks that no task has. */
    synchronized int idleChunks() {
        return count;
    }
}
