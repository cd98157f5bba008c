package io.modeldisk.mount.fuse;

import java.util.ArrayDeque;
import java.util.List;

/**
 * The slots of a session that hold no request. There are enough slots that a thread waits for a slot only if started requests
 * have all others. Thread-safe.
 */
final class SlotPool {
    private final int size;
    private final Runnable whenComplete;
    // Guarded by this.
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
    synchronized RequestSlot poll() {
        return free.poll();
    }

    /** Waits until a slot is free, and removes and returns it. */
    synchronized RequestSlot take() {
        boolean interrupted = false;
        while (free.isEmpty()) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return free.pop();
    }

    /** Returns a slot to the pool. */
    void giveBack(RequestSlot slot) {
        boolean complete;
        synchronized (this) {
            free.push(slot);
            notify();
            complete = free.size() == size;
        }
        if (complete) {
            whenComplete.run();
        }
    }

    /** Returns whether all slots are in the pool. */
    synchronized boolean isComplete() {
        return free.size() == size;
    }
}
