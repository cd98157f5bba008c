package io.modeldisk.platform.threads;

import java.io.Serial;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that a try statement holds, so the end of the statement always releases the lock:
 *
 * <pre>{@code
 * try (ScopedLock.Held _ = lock.hold()) {
 *     count++;
 *     changed.signalAll();
 * }
 * }</pre>
 *
 * <p>A catch or finally block of the same statement runs without the lock. Thread-safe; allocates nothing after construction.
 */
public final class ScopedLock extends ReentrantLock {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient Held held = this::unlock;

    /** A lock that the current thread holds. */
    @FunctionalInterface
    public interface Held extends AutoCloseable {
        /** Releases the lock. */
        @Override
        void close();
    }

    /** Acquires the lock. The caller closes the result in the same thread. */
    public Held hold() {
        lock();
        return held;
    }
}
