package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * The memory for incoming data. The memory is allocated once and divided into chunks of one size. A session owns one chunk for
 * each of its slots. A write waits in a queue if it needs more chunks than are free. The target requests the data of a write only
 * after the write has all its chunks.
 *
 * <p>Thread-safe.
 */
final class BufferPool implements AutoCloseable {
    /** The size of a chunk in bytes. Equals the default block size of a shard and the maximum size of unsolicited data. */
    static final int CHUNK_BYTES = 256 * 1024;

    private final DataMemory memory;
    private final int[] free;
    private int freeCount;
    private TaskSlot firstWaiting;
    private TaskSlot lastWaiting;

    BufferPool(long bytes) {
        int chunks = Math.toIntExact(bytes / CHUNK_BYTES);
        memory = DataMemory.allocate((long) chunks * CHUNK_BYTES);
        free = new int[chunks];
        for (int i = 0; i < chunks; i++) {
            free[i] = chunks - 1 - i;
        }
        freeCount = chunks;
    }

    DataMemory memory() {
        return memory;
    }

    /**
     * Acquires a chunk if more than {@code spare} chunks are free. Returns the offset of the chunk in bytes, or -1 if too few
     * chunks are free.
     */
    synchronized long take(int spare) {
        if (freeCount <= spare) {
            return -1;
        }
        return (long) free[--freeCount] * CHUNK_BYTES;
    }

    /**
     * Acquires all chunks that a task still needs and returns true. If too few chunks are free, queues the task and returns
     * false. The pool calls {@link TaskSlot#chunksGranted} when a queued task has got its chunks.
     *
     * <p>The slot of a task must not be reused while the task is in the queue. Therefore a task that needs no more chunks is
     * never queued: unsolicited data may complete such a task at any time, and its slot is then reused.
     */
    synchronized boolean takeOrWait(TaskSlot task) {
        if (task.extraChunksWanted() <= 0 || firstWaiting == null && fill(task)) {
            return true;
        }
        task.nextWaiting = null;
        if (firstWaiting == null) {
            firstWaiting = task;
        } else {
            lastWaiting.nextWaiting = task;
        }
        lastWaiting = task;
        return false;
    }

    private boolean fill(TaskSlot task) {
        int wanted = task.extraChunksWanted();
        if (wanted > freeCount) {
            return false;
        }
        for (int i = 0; i < wanted; i++) {
            task.addChunk((long) free[--freeCount] * CHUNK_BYTES);
        }
        return true;
    }

    /** Removes a task from the queue of tasks that wait for chunks. Returns whether the task was queued. */
    synchronized boolean stopWaiting(TaskSlot task) {
        TaskSlot before = null;
        for (TaskSlot waiting = firstWaiting; waiting != null; before = waiting, waiting = waiting.nextWaiting) {
            if (waiting == task) {
                if (before == null) {
                    firstWaiting = task.nextWaiting;
                } else {
                    before.nextWaiting = task.nextWaiting;
                }
                if (lastWaiting == task) {
                    lastWaiting = before;
                }
                return true;
            }
        }
        return false;
    }

    /** Frees a chunk, and gives free chunks to the tasks that wait for chunks. */
    synchronized void give(long offset) {
        free[freeCount++] = (int) (offset / CHUNK_BYTES);
        while (firstWaiting != null && fill(firstWaiting)) {
            TaskSlot served = firstWaiting;
            firstWaiting = served.nextWaiting;
            if (firstWaiting == null) {
                lastWaiting = null;
            }
            served.chunksGranted();
        }
    }

    synchronized int freeChunks() {
        return freeCount;
    }

    @Override
    public void close() {
        memory.close();
    }
}
