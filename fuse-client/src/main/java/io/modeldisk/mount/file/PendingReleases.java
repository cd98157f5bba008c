package io.modeldisk.mount.file;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts the handles that a process has closed and the kernel has not released yet. The kernel sends the release only after
 * close(2) has returned. So the next open may arrive before the release. Thread-safe.
 */
final class PendingReleases {
    // The wait is limited, because the kernel sends no release if the closed descriptor was a duplicate.
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final NanoClock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Cancellation.Waiter wake = Cancellation.signalling(lock, changed);
    // Writes of this field are guarded by {@code lock}.
    private volatile int count;

    PendingReleases(NanoClock clock) {
        this.clock = clock;
    }

    /** Changes the number of pending releases by 1 or -1. */
    void add(int change) {
        lock.lock();
        try {
            count += change;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no release is pending, 200 ms have passed, or the call is cancelled. */
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
