package io.modeldisk.platform.cancellation;

import java.util.Arrays;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * Cancels a call that waits in another thread. The call registers a {@link Waiter} before it waits. The loop
 * around the wait checks {@link #isCancelled}:
 *
 * <pre>{@code
 * try (Cancellation.Registration _ = cancellation.registered(waiter); ScopedLock.Held _ = lock.hold()) {
 *     while (!done && !cancellation.isCancelled()) {
 *         changed.await();
 *     }
 * }
 * }</pre>
 *
 * <p>Thread-safe. No memory is allocated while at most {@value #EXPECTED_WAITERS} waiters are registered.
 */
public final class Cancellation {
    /** Wakes the thread that waits in a call. */
    @FunctionalInterface
    public interface Waiter {
        /** Wakes the waiting thread. Can acquire the lock of the thread's condition, but must not block otherwise. */
        void wake();
    }

    /** A cancellation for calls that cannot be cancelled. */
    public static final Cancellation NONE = new Cancellation();

    private static final int EXPECTED_WAITERS = 4;

    // Guarded by {@code this}.
    private Waiter[] waiters = new Waiter[EXPECTED_WAITERS];
    private int waiterCount;

    private volatile boolean cancelled;
    // Guarded by {@code this}.
    private boolean kept;
    private boolean abandoned;

    /** The registration of a waiter. The registration lasts until this object is closed. */
    public record Registration(Cancellation cancellation, Waiter waiter) implements AutoCloseable {
        /** Removes the waiter; see {@link Cancellation#unregister}. */
        @Override
        public void close() {
            cancellation.unregister(waiter);
        }
    }

    /** Returns a waiter that signals all threads that wait on the condition. */
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
     * Cancels the call that uses this object, and wakes all registered waiters.
     *
     * @throws IllegalStateException if this object is {@link #NONE}
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

    /** Clears the cancelled state, so another call can use this object. */
    public synchronized void reset() {
        cancelled = false;
        kept = false;
        abandoned = false;
    }

    /**
     * Makes {@link #abandon} return false from now on. The caller then waits for the result of the call even after a
     * cancellation, so a cancelled call must end soon. A call uses this method before it has an effect whose result the caller
     * needs.
     *
     * @throws CancelledException if the call has already been abandoned
     */
    public synchronized void keep() throws CancelledException {
        if (abandoned) {
            throw new CancelledException();
        }
        kept = this != NONE;
    }

    /**
     * Marks a cancelled call as abandoned, so its caller does not wait for the result. If the call is {@link #keep kept}, does
     * nothing and returns false.
     */
    public synchronized boolean abandon() {
        abandoned = !kept;
        return abandoned;
    }

    /** Returns whether {@link #cancel} was called after the last {@link #reset}. */
    public boolean isCancelled() {
        return cancelled;
    }

    /** Throws a {@link CancelledException} if {@link #cancel} was called after the last {@link #reset}. */
    public void check() throws CancelledException {
        if (cancelled) {
            throw new CancelledException();
        }
    }

    /**
     * Registers a waiter. {@link #cancel} then wakes the waiter. {@link #unregister} removes the waiter. The caller must not hold
     * the lock that {@link Waiter#wake} acquires.
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

    /** Registers a waiter until the result is closed; see {@link #register}. */
    public Registration registered(Waiter waiter) {
        register(waiter);
        return new Registration(this, waiter);
    }

    /**
     * Removes a registered waiter. After this method has returned, {@link #cancel} does not wake the waiter. The caller must not
     * hold the lock that {@link Waiter#wake} acquires.
     */
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
