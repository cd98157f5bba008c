package io.modeldisk.mount.file;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/**
 * Counts the handles that a process has closed and the kernel has not released yet. The kernel sends the release only after
 * close(2) has returned, so the next open can arrive before the release. Thread-safe.
 */
final class PendingReleases {
    // The wait is limited, because the kernel sends no release as long as a duplicate of the closed descriptor is open.
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(200);
    /** The limit after the process has exited. A release is then certain, unless another process has inherited the file. */
    private static final long EXITED_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);

    private final NanoClock clock;
    private final ScopedLock lock = new ScopedLock();
    private final Condition changed = lock.newCondition();
    private final Cancellation.Waiter wake = Cancellation.signalling(lock, changed);
    // Writes of this field are guarded by {@code lock}.
    private volatile int count;

    PendingReleases(NanoClock clock) {
        this.clock = clock;
    }

    /** Changes the number of pending releases by 1 or -1. */
    void add(int change) {
        try (ScopedLock.Held _ = lock.hold()) {
            count += change;
            changed.signalAll();
        }
    }

    /**
     * Waits until no release is pending, the limit has passed, or the call is cancelled.
     *
     * @param exited whether the process that opened the files has exited: the limit is then 2 s instead of 200 ms
     */
    void await(boolean exited, Cancellation cancellation) throws IOException {
        if (count == 0) {
            return;
        }
        long deadlineNs = clock.nanoTime() + (exited ? EXITED_TIMEOUT_NS : TIMEOUT_NS);
        try (Cancellation.Registration _ = cancellation.registered(wake); ScopedLock.Held _ = lock.hold()) {
            clock.awaitUntil(changed, () -> count == 0 || cancellation.isCancelled(), deadlineNs);
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for the release of a closed file");
        }
    }
}
