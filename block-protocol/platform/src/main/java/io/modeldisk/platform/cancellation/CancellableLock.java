package io.modeldisk.platform.cancellation;

import io.modeldisk.platform.threads.Interruption;
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

    // Only threads that hold {@code queue} change the two counters. A thread increments {@code waiting} before its last attempt
    // to acquire this lock, and {@code close} reads {@code waiting} after it has released this lock. Therefore either the attempt
    // succeeds, or {@code close} wakes the thread.
    private volatile int waiting;
    private volatile int waitingExclusive;

    private final Held shared = new Held(false);
    private final Held exclusive = new Held(true);

    /** The lock while a thread holds it. */
    public final class Held implements AutoCloseable {
        private final boolean alone;

        private Held(boolean alone) {
            this.alone = alone;
        }

        /** Releases the lock. */
        @Override
        public void close() {
            if (!(alone ? lock.tryUnlockWrite() : lock.tryUnlockRead())) {
                throw new IllegalMonitorStateException("the lock is not held");
            }
            if (waiting > 0) {
                wakeWaiting.wake();
            }
        }
    }

    /** Acquires the lock for shared access. The caller closes the result. */
    public Held shared(Cancellation cancellation) throws InterruptedIOException {
        return tryLock(false) ? shared : await(shared, cancellation);
    }

    /** Acquires the lock for exclusive access. The caller closes the result. */
    public Held exclusive(Cancellation cancellation) throws InterruptedIOException {
        return tryLock(true) ? exclusive : await(exclusive, cancellation);
    }

    /** Acquires the lock for exclusive access. Nothing cancels or interrupts the wait. The caller closes the result. */
    public Held exclusive() {
        if (tryLock(true)) {
            return exclusive;
        }
        queue.lock();
        try {
            count(true, 1);
            while (!tryLock(true)) {
                unlocked.awaitUninterruptibly();
            }
            return exclusive;
        } finally {
            endWait(true);
            queue.unlock();
        }
    }

    private Held await(Held wanted, Cancellation cancellation) throws InterruptedIOException {
        cancellation.register(wakeWaiting);
        queue.lock();
        try {
            count(wanted.alone, 1);
            while (!tryLock(wanted.alone)) {
                if (cancellation.isCancelled()) {
                    throw new CancelledException(
                        "the call was interrupted while it waited for another request on the same file");
                }
                unlocked.await();
            }
            return wanted;
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for another request on the same file");
        } finally {
            endWait(wanted.alone);
            queue.unlock();
            cancellation.unregister(wakeWaiting);
        }
    }

    private void endWait(boolean exclusive) {
        count(exclusive, -1);
        if (exclusive) {
            // Other threads got no shared access while this thread waited for exclusive access. These threads can try again now.
            unlocked.signalAll();
        }
    }

    private boolean tryLock(boolean alone) {
        return alone ? lock.tryWriteLock() != 0 : waitingExclusive == 0 && lock.tryReadLock() != 0;
    }

    private void count(boolean exclusive, int change) {
        waiting += change;
        waitingExclusive += exclusive ? change : 0;
    }
}
