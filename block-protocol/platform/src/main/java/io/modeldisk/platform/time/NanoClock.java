package io.modeldisk.platform.time;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/**
 * Time in nanoseconds since an arbitrary origin, and the waits that depend on it. Product code that measures a duration, has a
 * timeout or runs periodically is given a clock; only {@link #SYSTEM} calls {@link System#nanoTime()}. Thread-safe.
 */
public interface NanoClock {
    /** The time of this machine. */
    NanoClock SYSTEM = new SystemNanoClock();

    /** The current time; compare two of them by subtraction, as for {@link System#nanoTime()}. */
    long nanoTime();

    /**
     * Waits on a condition until it is signalled or the deadline has passed; may return early. The caller holds the condition's
     * lock, and checks in a loop what it waits for.
     *
     * @param deadlineNs a time of {@link #nanoTime()}
     * @return false if the deadline has passed
     */
    boolean awaitUntil(Condition condition, long deadlineNs) throws InterruptedException;

    /** Sleeps until {@link #nanoTime()} has reached the deadline. */
    void sleepUntil(long deadlineNs) throws InterruptedException;

    /** Sleeps for a duration. */
    default void sleep(long duration, TimeUnit unit) throws InterruptedException {
        sleepUntil(nanoTime() + unit.toNanos(duration));
    }
}
