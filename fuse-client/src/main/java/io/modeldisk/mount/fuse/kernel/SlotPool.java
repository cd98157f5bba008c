package io.modeldisk.mount.fuse.kernel;

import io.modeldisk.platform.threads.ScopedLock;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;

/**
 * The slots of a session that hold no request. A thread has to wait for a slot only if started requests occupy all slots.
 * Thread-safe.
 */
final class SlotPool {
    private final int size;
    private final Runnable whenComplete;
    private final ScopedLock lock = new ScopedLock();
    private final Condition returned = lock.newCondition();
    // Guarded by {@code lock}.
    private final ArrayDeque<RequestSlot> free;

    /**
     * Creates a pool of free slots.
     *
     * @param whenComplete is run each time the last slot has returned to the pool
     */
    SlotPool(List<RequestSlot> slots, Runnable whenComplete) {
        this.size = slots.size();
        this.whenComplete = whenComplete;
        this.free = new ArrayDeque<>(slots);
    }

    /** Removes and returns a slot; null if no slot is free. */
    RequestSlot poll() {
        try (ScopedLock.Held _ = lock.hold()) {
            return free.poll();
        }
    }

    /** Waits until a slot is free, and removes and returns it. */
    RequestSlot take() {
        try (ScopedLock.Held _ = lock.hold()) {
            while (free.isEmpty()) {
                returned.awaitUninterruptibly();
            }
            return free.pop();
        }
    }

    /** Returns a slot to the pool. */
    void giveBack(RequestSlot slot) {
        boolean complete;
        try (ScopedLock.Held _ = lock.hold()) {
            free.push(slot);
            returned.signal();
            complete = free.size() == size;
        }
        if (complete) {
            whenComplete.run();
        }
    }

    /** Returns whether all slots are in the pool. */
    boolean isComplete() {
        try (ScopedLock.Held _ = lock.hold()) {
            return free.size() == size;
        }
    }
}
