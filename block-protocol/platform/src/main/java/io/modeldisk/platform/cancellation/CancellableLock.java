package io.modeldisk.platform.cancellation;

import java.io.InterruptedIOException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;

/**
 * A lock with shared and exclusive access. A thread stops waiting when its request is cancelled. A thread that waits for
 * exclusive access acquires the lock before later threads that want shared access. Not reentrant. Allocates no memory.
 * Thread-safe.
 */
public final class CancellableLock {
    private final StampedLock lock = new StampedLock();
    private final ReentrantLock queue = new ReentrantLock();
    private final Condition unlocked = queue.newCondition();
    private final Cancellation.Waiter wakeWaiting = Cancellation.signalling(queue, unlocked);

    // Writes of both counters are guarded by {@code queue}. A thread increments a counter before its last attempt to acquire
    // this lock. The method {@code unlock} reads the counter after it has released this lock. So either the attempt succeeds,
    // or {@code unlock} wakes the thread.
    private volatile int waiting;
    private volatile int waitingExclusive;

    /** Acquires the lock for shared access. Returns the stamp for {@link #unlock}. */
    public long lockShared(Cancellation cancellation) throws InterruptedIOException {
        long stamp = waitingExclusive == 0 ? lock.tryReadLock() : 0;
        return stamp != 0 ? stamp : await(false, cancellation);
    }

    /** Acquires the lock for exclusive access. Returns the stamp for {@link #unlock}. */
    public long lockExclusive(Cancellation cancellation) throws InterruptedIOException {
        long stamp = lock.tryWriteLock();
        return stamp != 0 ? stamp : await(true, cancellation);
    }

    /** Acquires the lock for exclusive access. Nothing cancels or interrupts the wait. Returns the stamp for {@link #unlock}. */
    public long lockExclusive() {
        long stamp = lock.tryWriteLock();
        return stamp != 0 ? stamp : awaitExclusive();
    }

    /** Releases the lock. */
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
                    throw new CancelledException(
                        "the call was interrupted while it waited for another request on the same file");
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
            endWait(exclusive);
            queue.unlock();
            cancellation.unregister(wakeWaiting);
        }
    }

    private long awaitExclusive() {
        queue.lock();
        try {
            count(true, 1);
            long stamp = lock.tryWriteLock();
            while (stamp == 0) {
                unlocked.awaitUninterruptibly();
                stamp = lock.tryWriteLock();
            }
            return stamp;
        } finally {
            endWait(true);
            queue.unlock();
        }
    }

    private void endWait(boolean exclusive) {
        count(exclusive, -1);
        if (exclusive) {
            // Other threads got no shared access while this thread waited for exclusive access. They may try again now.
            unlocked.signalAll();
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
