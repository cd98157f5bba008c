package io.modeldisk.server.block;

import io.modeldisk.aggregator.BlockMemory;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A block of weights, with its lock, its current memory slot and its version. The caller of {@link #readable}, {@link
 * #writable()} and {@link #updated} holds the lock.
 */
public final class Block {
    private final ReentrantLock lock = new ReentrantLock();
    private final int index;
    private final int lengthBytes;
    private final MemorySegment state;
    private final SpareSlots spares;
    private final BlockVersions versions;
    private final ChangeWatch watch;
    private BlockSlot current;
    private long round;

    Block(int index, int lengthBytes, MemorySegment state, SpareSlots spares, BlockVersions versions,
        ChangeWatch watch) {
        this.index = index;
        this.lengthBytes = lengthBytes;
        this.state = state;
        this.spares = spares;
        this.versions = versions;
        this.watch = watch;
    }

    /** The index of the block within the shard, from 0. */
    public int index() {
        return index;
    }

    /** The length of the block in bytes. Only the last block of a shard may be shorter than the block size. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** Locks the block. A thread that locks several blocks must lock the blocks in ascending order of their indexes. */
    public void lock() {
        lock.lock();
    }

    /** Unlocks the block. */
    public void unlock() {
        lock.unlock();
    }

    /** Returns the weights for reading. The weights are valid until the lock is released. */
    public BlockMemory readable() {
        return current;
    }

    /** Returns the weights for an update that belongs to a round, from 1. See {@link #writable()}. */
    public BlockMemory writable(long ofRound) {
        round = ofRound;
        return writable();
    }

    /**
     * Returns the weights for writing. The weights are valid until the lock is released. If readers have pinned the current slot,
     * copies the weights to a spare slot first, so that the readers keep their data. Calls the listener of
     * {@link BlockStore#watch} before.
     */
    public BlockMemory writable() {
        watch.beforeChange(this);
        if (current.isPinned()) {
            BlockSlot spare = spares.take();
            spare.hold(this);
            MemorySegment.copy(current.weights(), 0, spare.weights(), 0, lengthBytes);
            // Only readers still use the old slot. The last reader returns this slot to the spare slots.
            current = spare;
        }
        return current;
    }

    /** The round of the last update of the block. */
    long round() {
        return round;
    }

    /** The number of updates of the block. */
    public long version() {
        return versions.of(index);
    }

    /** Counts an update of the block. */
    public void updated() {
        versions.increment(index);
    }

    void start(BlockSlot slot) {
        slot.hold(this);
        current = slot;
    }

    /** The aggregator state of the block; {@link MemorySegment#NULL} if the aggregator has no state. */
    public MemorySegment state() {
        return state;
    }

    BlockSlot current() {
        return current;
    }

    BlockSlot pinCurrent() {
        lock.lock();
        try {
            current.pin();
            return current;
        } finally {
            lock.unlock();
        }
    }

    void unpin(BlockSlot slot) {
        lock.lock();
        try {
            slot.unpin();
            if (!slot.isPinned() && slot != current) {
                spares.put(slot);
            }
        } finally {
            lock.unlock();
        }
    }
}
