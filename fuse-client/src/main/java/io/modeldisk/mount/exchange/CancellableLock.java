package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.StampedLock;

/**
 * A shared and exclusive lock whose wait ends when its request is cancelled: a learner that waits behind a round can be
 * interrupted. Not reentrant; makes no object unless it waits. Thread-safe.
 */
public final class CancellableLock {
    private static final long POLL_MS = 5;

    private final StampedLock lock = new StampedLock();

    /** Takes it together with other sharers; the result goes to {@link #unlock}. */
    public long lockShared(Cancellation cancellation) throws InterruptedIOException {
        long stamp = lock.tryReadLock();
        try {
            while (stamp == 0) {
                check(cancellation);
                stamp = lock.tryReadLock(POLL_MS, TimeUnit.MILLISECONDS);
            }
            return stamp;
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    /** Takes it alone; the result goes to {@link #unlock}. */
    public long lockExclusive(Cancellation cancellation) throws InterruptedIOException {
        long stamp = lock.tryWriteLock();
        try {
            while (stamp == 0) {
                check(cancellation);
                stamp = lock.tryWriteLock(POLL_MS, TimeUnit.MILLISECONDS);
            }
            return stamp;
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    /** Takes it alone, however long that takes, and whatever interrupts. */
    public long lockExclusive() {
        return lock.writeLock();
    }

    /** Gives it back. */
    public void unlock(long stamp) {
        lock.unlock(stamp);
    }

    private static void check(Cancellation cancellation) throws InterruptedIOException {
        if (cancellation.isCancelled()) {
            throw new InterruptedIOException("interrupted while waiting for another request on the same file");
        }
    }

    private static InterruptedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("the thread was interrupted");
    }
}
