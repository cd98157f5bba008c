package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;
import java.util.ArrayDeque;

/**
 * The memory for incoming data. The memory is allocated once and divided into chunks of one size. A session owns one chunk for
 * each of its slots. A write waits in a queue if it needs more chunks than are free. The target requests the data of a write only
 * after the write has all its chunks.
 *
 * <p>Some chunks are promised: the pool reserves them for the first slots of sessions that have not logged in yet. No write and
 * no additional slot gets a promised chunk, so the writes of a few sessions cannot prevent other sessions from logging in.
 *
 * <p>Thread-safe.
 */
final class BufferPool implements AutoCloseable {
    /** The size of a chunk in bytes. Equals the default block size of a shard and the maximum size of unsolicited data. */
    static final int CHUNK_BYTES = 256 * 1024;

    private final DataMemory memory;
    private final int[] free;
    private int freeCount;
    /** The number of chunks promised to sessions that log in later. Negative if there are more sessions than expected. */
    private int promised;
    /** The tasks that wait for chunks, oldest first. Each task already has the chunk of its slot. */
    private final ArrayDeque<TaskSlot> waiting;

    /** Creates a pool. {@code promised} is the number of chunks that all sessions together get when they log in. */
    BufferPool(long bytes, int promised) {
        int chunks = Math.toIntExact(bytes / CHUNK_BYTES);
        memory = DataMemory.allocate((long) chunks * CHUNK_BYTES);
        free = new int[chunks];
        waiting = new ArrayDeque<>(chunks);
        for (int i = 0; i < chunks; i++) {
            free[i] = chunks - 1 - i;
        }
        freeCount = chunks;
        this.promised = promised;
    }

    DataMemory memory() {
        return memory;
    }

    /** Acquires a chunk if more than {@code spare} unpromised chunks are free. Returns the chunk's offset in bytes, or -1. */
    synchronized long take(int spare) {
        return unpromised() <= spare ? -1 : (long) free[--freeCount] * CHUNK_BYTES;
    }

    /**
     * Acquires one of the chunks that are promised to new sessions. Returns the offset of the chunk in bytes, or -1 if no chunk
     * is free. The caller returns the chunk with {@link #givePromised}.
     */
    synchronized long takePromised() {
        if (freeCount == 0) {
            return -1;
        }
        promised--;
        return (long) free[--freeCount] * CHUNK_BYTES;
    }

    /** Frees a chunk that {@link #takePromised} has returned, and promises the chunk to the next session. */
    synchronized void givePromised(long offset) {
        promised++;
        give(offset);
    }

    private int unpromised() {
        return freeCount - Math.max(0, promised);
    }

    /**
     * Acquires all chunks that a task still needs and returns true. If too few chunks are free, queues the task and returns
     * false. The pool calls {@link TaskSlot#chunksGranted} when a queued task has received its chunks.
     *
     * <p>The slot of a task must not be reused while the task is in the queue, so a task that needs no more chunks is never
     * queued: unsolicited data can complete such a task at any time, and its slot is then reused.
     */
    synchronized boolean takeOrWait(TaskSlot task) {
        if (task.extraChunksWanted() <= 0 || waiting.isEmpty() && fill(task)) {
            return true;
        }
        waiting.add(task);
        return false;
    }

    private boolean fill(TaskSlot task) {
        int wanted = task.extraChunksWanted();
        if (wanted > unpromised()) {
            return false;
        }
        for (int i = 0; i < wanted; i++) {
            task.addChunk((long) free[--freeCount] * CHUNK_BYTES);
        }
        return true;
    }

    /** Removes a task from the queue of tasks that wait for chunks. Returns true if the task was in the queue. */
    synchronized boolean stopWaiting(TaskSlot task) {
        return waiting.remove(task);
    }

    /** Frees a chunk, and gives free chunks to the tasks that wait for chunks. */
    synchronized void give(long offset) {
        free[freeCount++] = (int) (offset / CHUNK_BYTES);
        while (!waiting.isEmpty() && fill(waiting.peek())) {
            waiting.remove().chunksGranted();
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
