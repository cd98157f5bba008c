package io.modeldisk.platform.threads;

import java.io.Serial;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that a try statement holds, so that its end always releases the lock:
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

    private final transient Held held = new Held();

    /** Acquires the lock. The caller closes the result in the same thread. */
    public Held hold() {
        lock();
        return held;
    }

    /** A lock that a thread holds. */
    public final class Held implements AutoCloseable {
        private Held() {}

        /** Releases the lock. */
        @Override
        public void close() {
            unlock();
        }
    }
}
