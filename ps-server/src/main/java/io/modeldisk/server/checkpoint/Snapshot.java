package io.modeldisk.server.checkpoint;

import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.ChangeListener;
import io.modeldisk.server.consistency.Consistency;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Saves all blocks of a shard as they were at one point, while pushes go on. A thread of the shard saves one block after another
 * ({@link #sweep}). A thread that is about to change a block which is not saved yet saves this block first. So the shard needs no
 * second copy of the model.
 *
 * <p>In bsp, the point is the end of a round: a block is saved after this round has closed and before the next round closes. In
 * the other modes, the point is the start of the snapshot.
 *
 * <p>Thread-safe. After a failure, the snapshot saves no more blocks, and pushes go on.
 */
final class Snapshot implements ChangeListener {
    private final BlockStore store;
    private final Consistency consistency;
    private final PartWriter writer;
    private final long round;
    // Each element is guarded by the lock of its block.
    private final boolean[] saved;
    private final AtomicInteger left;
    private volatile IOException failure;
    private volatile boolean stopped;

    /**
     * Creates a snapshot.
     *
     * @param round in bsp, the round after which the blocks are saved; -1 in the other modes
     */
    Snapshot(BlockStore store, Consistency consistency, PartWriter writer, long round) {
        this.store = store;
        this.consistency = consistency;
        this.writer = writer;
        this.round = round;
        this.saved = new boolean[store.layout().blocks()];
        this.left = new AtomicInteger(saved.length);
    }

    @Override
    public void beforeChange(Block block) {
        if (saved[block.index()] || failure != null || consistency.rounds(block.index()) < round) {
            return;
        }
        try {
            writer.write(block);
            saved[block.index()] = true;
            left.decrementAndGet();
        } catch (IOException e) {
            failure = e;
        }
    }

    /** Makes a {@link #sweep} in progress return early. */
    void stop() {
        stopped = true;
    }

    /** Saves all blocks that have reached the point. Returns whether all blocks are saved. */
    boolean sweep() throws IOException {
        for (int i = 0; i < saved.length && left.get() > 0 && !stopped; i++) {
            Block block = store.block(i);
            block.lock();
            try {
                beforeChange(block);
            } finally {
                block.unlock();
            }
            if (failure != null) {
                throw failure;
            }
        }
        return left.get() == 0 && !stopped;
    }
}
