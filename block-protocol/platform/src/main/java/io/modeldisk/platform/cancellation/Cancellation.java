package io.modeldisk.platform.cancellation;

import java.util.Arrays;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * Ends the waits of one call from another thread. The call registers a {@link Waiter} before it waits and checks
 * {@link #isCancelled} in the loop around the wait:
 *
 * <pre>{@code
 * cancellation.register(waiter);
 * lock.lock();
 * try {
 *     while (!done && !cancellation.isCancelled()) {
 *         changed.await();
 *     }
 * } finally {
 *     lock.unlock();
 *     cancellation.unregister(waiter);
 * }
 * }</pre>
 *
 * <p>Thread-safe. Allocates nothing for up to {@value #EXPECTED_WAITERS} waiters at a time.
 */
public final class Cancellation {
    /** Wakes a thread that waits. */
    @FunctionalInterface
    public interface Waiter {
        /** Wakes the waiting thread. Called by the thread that cancels; it may take the lock of the wait, but must not block. */
        void wake();
    }

    /** A cancellation that never happens. */
    public static final Cancellation NONE = new Cancellation();

    private static final int EXPECTED_WAITERS = 4;

    // Guarded by this.
    private Waiter[] waiters = new Waiter[EXPECTED_WAITERS];
    private int waiterCount;

    private volatile boolean cancelled;

    /** A waiter that signals all threads that wait on a condition of a lock. */
    public static Waiter signalling(Lock lock, Condition condition) {
        return () -> {
            lock.lock();
            try {
                condition.signalAll();
            } finally {
                lock.unlock();
            }
        };
    }

    /**
     * Cancels, and wakes the waiters that are registered.
     *
     * @throws IllegalStateException for {@link #NONE}
     */
    public synchronized void cancel() {
        if (this == NONE) {
            throw new IllegalStateException("Cancellation.NONE cannot be cancelled");
        }
        cancelled = true;
        for (int i = 0; i < waiterCount; i++) {
            waiters[i].wake();
        }
    }

    /** Makes it ready for another call. */
    public void reset() {
        cancelled = false;
    }

    /** Whether {@link #cancel} was called after the last {@link #reset}. */
    public boolean isCancelled() {
        return cancelled;
    }

    /**
     * Throws if this was cancelled.
     *
     * @throws CancelledException if {@link #cancel} was called after the last {@link #reset}
     */
    public void check() throws CancelledException {
        if (cancelled) {
            throw new CancelledException();
        }
    }

    /**
     * Registers a waiter: {@link #cancel} wakes it until {@link #unregister}. The caller must not hold the lock that
     * {@link Waiter#wake} takes, here and in {@link #unregister}.
     */
    public void register(Waiter waiter) {
        if (this == NONE) {
            return;
        }
        synchronized (this) {
            if (waiterCount == waiters.length) {
                waiters = Arrays.copyOf(waiters, 2 * waiterCount);
            }
            waiters[waiterCount++] = waiter;
        }
    }

    /** Removes a registered waiter: it is not woken after this has returned. */
    public void unregister(Waiter waiter) {
        if (this == NONE) {
            return;
        }
        synchronized (this) {
            for (int i = waiterCount - 1; i >= 0; i--) {
                if (waiters[i] == waiter) {
                    waiters[i] = waiters[--waiterCount];
                    waiters[waiterCount] = null;
                    return;
                }
            }
        }
    }
}
