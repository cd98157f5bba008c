package io.modeldisk.server.block;

import io.modeldisk.aggregator.BlockMemory;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/** A block: its lock, the slot that holds its weights, and its version. Everything but its constants needs the lock. */
public final class Block {
    private final ReentrantLock lock = new ReentrantLock();
    private final int index;
    private final int lengthBytes;
    private final MemorySegment state;
    private final SpareSlots spares;
    private final BlockVersions versions;
    private BlockSlot current;

    Block(int index, int lengthBytes, MemorySegment state, SpareSlots spares, BlockVersions versions) {
        this.index = index;
        this.lengthBytes = lengthBytes;
        this.state = state;
        this.spares = spares;
        this.versions = versions;
    }

    /** Its number within the shard, from 0. */
    public int index() {
        return index;
    }

    /** Its length; only the shard's last block may be shorter than the block size. */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** Locks it. Several blocks are locked in ascending order of their numbers. */
    public void lock() {
        lock.lock();
    }

    /** Unlocks it. */
    public void unlock() {
        lock.unlock();
    }

    /** The weights to read: valid until the lock is released. */
    public BlockMemory readable() {
        return current;
    }

    /** The weights to change: readers that have pinned the slot keep its content. Valid until the lock is released. */
    public BlockMemory writable() {
        if (current.isPinned()) {
            BlockSlot spare = spares.take();
            spare.hold(this);
            MemorySegment.copy(current.weights(), 0, spare.weights(), 0, lengthBytes);
            // From now on the pinned slot belongs to its readers: the last one returns it.
            current = spare;
        }
        return current;
    }

    /** How many updates it has had. */
    public long version() {
        return versions.of(index);
    }

    /** Counts an update. */
    public void updated() {
        versions.increment(index);
    }

    void start(BlockSlot slot) {
        slot.hold(this);
        current = slot;
    }

    MemorySegment state() {
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
