package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import java.io.InterruptedIOException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;

/**
 * A shared and exclusive lock whose wait ends when the request that waits is cancelled. A thread that waits for it alone goes
 * before threads that want to share it. Not reentrant. Allocates nothing. Thread-safe.
 */
public final class CancellableLock {
    private final StampedLock lock = new StampedLock();
    private final ReentrantLock queue = new ReentrantLock();
    private final Condition unlocked = queue.newCondition();
    private final Cancellation.Waiter wakeWaiting = Cancellation.signalling(queue, unlocked);

    // Changed under the queue's lock. A thread announces itself here before it tries the lock for the last time, and unlock looks
    // here after it has unlocked: so one of them sees the other, and no wake-up is lost.
    private volatile int waiting;
    private volatile int waitingExclusive;

    /** Locks it together with other sharers; the result is for {@link #unlock}. */
    public long lockShared(Cancellation cancellation) throws InterruptedIOException {
        long stamp = waitingExclusive == 0 ? lock.tryReadLock() : 0;
        return stamp != 0 ? stamp : await(false, cancellation);
    }

    /** Locks it alone; the result is for {@link #unlock}. */
    public long lockExclusive(Cancellation cancellation) throws InterruptedIOException {
        long stamp = lock.tryWriteLock();
        return stamp != 0 ? stamp : await(true, cancellation);
    }

    /** Locks it alone; nothing ends the wait early. */
    public long lockExclusive() {
        return lock.writeLock();
    }

    /** Unlocks it. */
    public void unlock(long stamp) {
        lock.unlock(stamp);
        if (waiting > 0) {
            wakeWaiting.wake();
        }
    }

    private long await(boolean exclusive, Cancellation cancellation) throws InterruptedIOException {
        cancellation.register(wakeWaiting);
        queue.lock();
        try {
            count(exclusive, 1);
            long stamp = tryLock(exclusive);
            while (stamp == 0) {
                if (cancellation.isCancelled()) {
                    throw new CancelledException("interrupted while waiting for another request on the same file");
                }
                unlocked.await();
                stamp = tryLock(exclusive);
            }
            return stamp;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(
                "the thread was interrupted while it waited for another request on the same file");
        } finally {
            count(exclusive, -1);
            if (exclusive) {
                // Sharers have waited behind this thread; if it was cancelled, nobody else wakes them.
                unlocked.signalAll();
            }
            queue.unlock();
            cancellation.unregister(wakeWaiting);
        }
    }

    private long tryLock(boolean exclusive) {
        if (exclusive) {
            return lock.tryWriteLock();
        }
        return waitingExclusive == 0 ? lock.tryReadLock() : 0;
    }

    private void count(boolean exclusive, int change) {
        waiting += change;
        waitingExclusive += exclusive ? change : 0;
    }
}
