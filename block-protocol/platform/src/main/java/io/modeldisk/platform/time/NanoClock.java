package io.modeldisk.platform.time;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

/**
 * Measures time in nanoseconds since an arbitrary origin, and waits until a deadline. Product code that measures a duration, has
 * a timeout or runs periodically receives a clock. In product code, only {@link #SYSTEM} calls {@link System#nanoTime()}.
 * Thread-safe.
 */
public interface NanoClock {
    /** The clock of this machine. */
    NanoClock SYSTEM = new SystemNanoClock();

    /** Returns the current time. Two times are compared by subtraction, as for {@link System#nanoTime()}. */
    long nanoTime();

    /**
     * Waits on a condition until the condition is signalled or the deadline has passed. Can return early. The caller holds the
     * lock of the condition, and checks the awaited state in a loop.
     *
     * @param deadlineNs a time of {@link #nanoTime()}
     * @return false if the deadline has passed
     */
    boolean awaitUntil(Condition condition, long deadlineNs) throws InterruptedException;

    /**
     * Waits on a condition until {@code state} is true or the deadline has passed. The caller holds the lock of the condition.
     *
     * @return {@code state}
     */
    default boolean awaitUntil(Condition condition, BooleanSupplier state, long deadlineNs)
        throws InterruptedException {
        boolean inTime = true;
        while (!state.getAsBoolean() && inTime) {
            inTime = awaitUntil(condition, deadlineNs);
        }
        return state.getAsBoolean();
    }

    /** Sleeps until {@link #nanoTime()} has reached the deadline. */
    void sleepUntil(long deadlineNs) throws InterruptedException;

    /** Sleeps for a duration. */
    default void sleep(long duration, TimeUnit unit) throws InterruptedException {
        sleepUntil(nanoTime() + unit.toNanos(duration));
    }
}
