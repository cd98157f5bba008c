package io.modeldisk.server.checkpoint;

import java.util.concurrent.ArrayBlockingQueue;

/**
 * A fixed number of copies of blocks. A thread that changes a block copies the block, and the thread of the checkpoints writes
 * the copy to disk. So a push waits for the disk only if all copies are in use. Thread-safe.
 */
final class BlockCopies {
    private final ArrayBlockingQueue<BlockCopy> free = new ArrayBlockingQueue<>(CheckpointSettings.COPIES);
    private final ArrayBlockingQueue<BlockCopy> full = new ArrayBlockingQueue<>(CheckpointSettings.COPIES);
    private final BlockCopy own;
    private final Runnable filled;

    /**
     * Allocates the copies.
     *
     * @param filled is called when a copy waits to be written, by a thread that holds the lock of a block
     */
    BlockCopies(int blockSizeBytes, int stateBytesPerLogicalBlock, Runnable filled) {
        this.filled = filled;
        this.own = new BlockCopy(blockSizeBytes, stateBytesPerLogicalBlock);
        for (int i = 1; i < CheckpointSettings.COPIES; i++) {
            free.add(new BlockCopy(blockSizeBytes, stateBytesPerLogicalBlock));
        }
    }

    /** Returns the copy that only the thread of the checkpoints uses. */
    BlockCopy own() {
        return own;
    }

    /** Returns a free copy; null if all copies are in use. */
    BlockCopy free() {
        return free.poll();
    }

    /** Adds a copy that has the data of a block. */
    void fill(BlockCopy copy) {
        full.add(copy);
        filled.run();
    }

    /** Returns a copy that has the data of a block; null if there is none. The caller then calls {@link #release}. */
    BlockCopy full() {
        return full.poll();
    }

    void release(BlockCopy copy) {
        free.add(copy);
    }

    /** Discards the data of all copies. */
    void discard() {
        for (BlockCopy copy = full.poll(); copy != null; copy = full.poll()) {
            free.add(copy);
        }
    }
}
