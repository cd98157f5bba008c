package io.modeldisk.mount.file;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The handles that a process has closed and the kernel has not released yet. The kernel sends the release just after close(2) has
 * returned, so that the next open may come before it. Thread-safe.
 */
final class PendingReleases {
    // No release comes if the closed descriptor was a duplicate.
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final NanoClock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Cancellation.Waiter wake = Cancellation.signalling(lock, changed);
    // Changes under the lock.
    private volatile int count;

    PendingReleases(NanoClock clock) {
        this.clock = clock;
    }

    /** Adds a handle, or removes one with -1. */
    void add(int change) {
        lock.lock();
        try {
            count += change;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no release is pending, for 200 ms at most, or until the call is cancelled. */
    void await(Cancellation cancellation) throws IOException {
        if (count == 0) {
            return;
        }
        long deadlineNs = clock.nanoTime() + TIMEOUT_NS;
        cancellation.register(wake);
        lock.lock();
        try {
            boolean inTime = true;
            while (inTime && count > 0 && !cancellation.isCancelled()) {
                inTime = clock.awaitUntil(changed, deadlineNs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(
                "the thread was interrupted while it waited for the release of a closed file");
        } finally {
            lock.unlock();
            cancellation.unregister(wake);
        }
    }
}
