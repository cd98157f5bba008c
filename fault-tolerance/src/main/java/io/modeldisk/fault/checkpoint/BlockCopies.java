package io.modeldisk.fault.checkpoint;

import java.util.concurrent.ArrayBlockingQueue;

/**
 * A fixed number of copies of blocks, which one {@link Snapshot} after another uses. A thread that is about to change a block
 * copies it, and the checkpoint thread writes the copy to disk, so a push waits for the disk only if all copies are in use.
 * Thread-safe.
 */
final class BlockCopies {
    private final ArrayBlockingQueue<BlockCopy> free = new ArrayBlockingQueue<>(CheckpointSettings.COPIES);
    private final BlockCopy own;
    private final Runnable filled;

    /**
     * Allocates the copies.
     *
     * @param filled is called when a copy waits to be written; the calling thread holds the lock of a block
     */
    BlockCopies(int blockSizeBytes, int stateBytesPerLogicalBlock, Runnable filled) {
        this.filled = filled;
        this.own = new BlockCopy(blockSizeBytes, stateBytesPerLogicalBlock);
        for (int i = 1; i < CheckpointSettings.COPIES; i++) {
            free.add(new BlockCopy(blockSizeBytes, stateBytesPerLogicalBlock));
        }
    }

    /** Returns the copy that only the checkpoint thread uses. */
    BlockCopy own() {
        return own;
    }

    /** Returns a free copy; null if all copies are in use. The caller must later call {@link #release}. */
    BlockCopy free() {
        return free.poll();
    }

    /** Reports that a copy waits to be written. */
    void filled() {
        filled.run();
    }

    void release(BlockCopy copy) {
        free.add(copy);
    }
}
