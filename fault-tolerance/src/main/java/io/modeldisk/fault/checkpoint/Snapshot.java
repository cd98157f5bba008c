package io.modeldisk.fault.checkpoint;

import io.modeldisk.fault.shard.ChangeListener;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.fault.shard.ShardBlocks;
import io.modeldisk.platform.threads.ScopedLock;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntToLongFunction;

/**
 * Saves all blocks of a shard as they were at one point, while pushes continue. A thread of the shard saves one block after
 * another ({@link #sweep}). A thread that is about to change a block which is not saved yet copies this block first, so the
 * shard needs no second copy of the model. If all {@link BlockCopies} are in use, this thread writes the block to disk.
 *
 * <p>In bsp, the point is the end of a round: a block is saved after this round has closed and before the next round closes. In
 * the other modes, the point is the start of the snapshot.
 *
 * <p>Thread-safe. After a failure, the snapshot saves no more blocks, and pushes continue.
 */
final class Snapshot implements ChangeListener {
    /** Listens to a snapshot, which notifies it of each saved block. */
    @FunctionalInterface
    interface Listener {
        /** Called when the contents of a block are saved or copied. The caller holds the lock of the block. */
        void saved(ShardBlock block) throws IOException;
    }

    private final ShardBlocks store;
    private final IntToLongFunction rounds;
    private final PartWriter writer;
    private final BlockCopies copies;
    /**
     * The copies that wait to be written. Each snapshot has its own queue, because a thread might still copy a block for this
     * snapshot after the next snapshot has begun.
     */
    private final ArrayBlockingQueue<BlockCopy> full = new ArrayBlockingQueue<>(CheckpointSettings.COPIES);
    private final Listener whenSaved;
    private final long round;
    /** True if a block is on disk or in a copy. Each element is guarded by the lock of its block. */
    private final boolean[] saved;
    /** The number of blocks that are not on disk. */
    private final AtomicInteger left;
    private volatile IOException failure;
    private volatile boolean stopped;

    /**
     * Creates a snapshot.
     *
     * @param rounds returns the number of closed rounds of a block, whose lock the caller holds
     * @param whenSaved is notified when a block is saved; if this fails, the snapshot fails
     * @param round in bsp, the round after which the blocks are saved; -1 in the other modes
     */
    Snapshot(ShardBlocks store, IntToLongFunction rounds, PartWriter writer, BlockCopies copies,
        Listener whenSaved, long round) {
        this.store = store;
        this.rounds = rounds;
        this.writer = writer;
        this.copies = copies;
        this.whenSaved = whenSaved;
        this.round = round;
        this.saved = new boolean[store.layout().blocks()];
        this.left = new AtomicInteger(saved.length);
    }

    @Override
    public void beforeChange(ShardBlock block) {
        if (!isDue(block)) {
            return;
        }
        BlockCopy copy = copies.free();
        if (copy == null) {
            write(block);
            return;
        }
        copy.take(block);
        if (!isRecorded(block)) {
            copies.release(copy);
            return;
        }
        full.add(copy);
        copies.filled();
        if (stopped) {
            // stop() might have missed this copy.
            discard();
        }
    }

    private boolean isDue(ShardBlock block) {
        return !saved[block.index()] && failure == null && !stopped && rounds.applyAsLong(block.index()) >= round;
    }

    /** Notifies the listener that a block is saved. Returns false if the listener has failed, so the snapshot has failed, too. */
    private boolean isRecorded(ShardBlock block) {
        try {
            whenSaved.saved(block);
            saved[block.index()] = true;
            return true;
        } catch (IOException e) {
            failure = e;
            return false;
        }
    }

    private void write(ShardBlock block) {
        try {
            writer.write(block.index(), block.version(), block.readable().weights(), block.state());
            if (isRecorded(block)) {
                left.decrementAndGet();
            }
        } catch (IOException e) {
            failure = e;
        }
    }

    /** Ends the snapshot. A {@link #sweep} in progress returns early. */
    void stop() {
        stopped = true;
        discard();
    }

    private void discard() {
        for (BlockCopy copy = full.poll(); copy != null; copy = full.poll()) {
            copies.release(copy);
        }
    }

    /** Saves all blocks that have reached the point. Returns whether all blocks are on disk. */
    boolean sweep() throws IOException {
        for (int i = 0; i < saved.length && left.get() > 0 && !stopped; i++) {
            writeCopies();
            // Without the lock of the block, the value might be out of date; isDue() reads it again under this lock.
            if (saved[i]) {
                continue;
            }
            ShardBlock block = store.block(i);
            boolean due;
            try (ScopedLock.Held _ = block.hold()) {
                due = isDue(block) && isRecorded(block);
                if (due) {
                    copies.own().take(block);
                }
            }
            if (due) {
                write(copies.own());
            }
            if (failure != null) {
                throw failure;
            }
        }
        writeCopies();
        return left.get() == 0 && !stopped;
    }

    private void writeCopies() throws IOException {
        for (BlockCopy copy = full.poll(); copy != null; copy = full.poll()) {
            try {
                write(copy);
            } finally {
                copies.release(copy);
            }
        }
    }

    private void write(BlockCopy copy) throws IOException {
        copy.writeTo(writer);
        left.decrementAndGet();
        writer.showProgress();
    }
}
