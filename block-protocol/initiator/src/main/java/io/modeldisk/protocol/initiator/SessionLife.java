package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

/** The state of a session after its login, and the number of its running threads. Thread-safe. */
final class SessionLife {
    /**
     * The states of a session, in their order.
     *
     * <pre>
     *              close()                 logout response
     *     OPEN -------------> LOGGING_OUT ---------------> LOGGED_OUT
     *       |                     |                            |
     *       |  the connection     |                            |
     *       v  was lost           v                            v
     *     ENDED <----------------------------------------------+
     * </pre>
     */
    enum State {
        OPEN, LOGGING_OUT, LOGGED_OUT, ENDED
    }

    private final NanoClock clock;
    private final ScopedLock lock = new ScopedLock();
    private final Condition changed = lock.newCondition();
    // Only a thread that holds {@code lock} changes this field.
    private volatile State state = State.OPEN;
    // Guarded by {@code lock}.
    private int threads;

    SessionLife(NanoClock clock) {
        this.clock = clock;
    }

    State state() {
        return state;
    }

    /** Changes the state to {@code next}. Returns false if the session is already in this state or in a later state. */
    boolean advance(State next) {
        try (ScopedLock.Held _ = lock.hold()) {
            if (state.compareTo(next) >= 0) {
                return false;
            }
            state = next;
            changed.signalAll();
            return true;
        }
    }

    /** Waits until the session is in this state or in a later state. Returns false if the timeout passes first. */
    boolean await(State wanted, long timeoutNs) throws InterruptedException {
        return await(() -> state.compareTo(wanted) >= 0, timeoutNs);
    }

    /** Starts a thread of the session. */
    void start(Thread.Builder thread, Runnable work) {
        count(1);
        thread.start(() -> {
            try {
                work.run();
            } finally {
                count(-1);
            }
        });
    }

    private void count(int more) {
        try (ScopedLock.Held _ = lock.hold()) {
            threads += more;
            changed.signalAll();
        }
    }

    /** Waits until all threads of the session have stopped. Returns false if the timeout passes first. */
    boolean awaitThreads(long timeoutNs) throws InterruptedException {
        return await(() -> threads == 0, timeoutNs);
    }

    private boolean await(BooleanSupplier condition, long timeoutNs) throws InterruptedException {
        long deadlineNs = clock.nanoTime() + timeoutNs;
        try (ScopedLock.Held _ = lock.hold()) {
            return clock.awaitUntil(changed, condition, deadlineNs);
        }
    }
}
