package io.modeldisk.mount.fuse.kernel;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The slots of a session that hold no request. There are enough slots that a thread waits for a slot only if started requests
 * have all others. Thread-safe.
 */
final class SlotPool {
    private final int size;
    private final Runnable whenComplete;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition returned = lock.newCondition();
    // Guarded by {@code lock}.
    private final ArrayDeque<RequestSlot> free;

    /**
     * Creates a pool of free slots.
     *
     * @param whenComplete runs each time when all slots are in the pool again
     */
    SlotPool(List<RequestSlot> slots, Runnable whenComplete) {
        this.size = slots.size();
        this.whenComplete = whenComplete;
        this.free = new ArrayDeque<>(slots);
    }

    /** Removes and returns a slot; null if no slot is free. */
    RequestSlot poll() {
        lock.lock();
        try {
            return free.poll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until a slot is free, and removes and returns it. */
    RequestSlot take() {
        lock.lock();
        try {
            while (free.isEmpty()) {
                returned.awaitUninterruptibly();
            }
            return free.pop();
        } finally {
            lock.unlock();
        }
    }

    /** Returns a slot to the pool. */
    void giveBack(RequestSlot slot) {
        boolean complete;
        lock.lock();
        try {
            free.push(slot);
            returned.signal();
            complete = free.size() == size;
        } finally {
            lock.unlock();
        }
        if (complete) {
            whenComplete.run();
        }
    }

    /** Returns whether all slots are in the pool. */
    boolean isComplete() {
        lock.lock();
        try {
            return free.size() == size;
        } finally {
            lock.unlock();
        }
    }
}
