package io.modeldisk.test;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waits until a condition is true, up to a limit in real time. */
public final class Await {
    /** The default time limit. */
    public static final Duration BOUND = Duration.ofSeconds(60);

    private static final long SHORTEST_PAUSE_NS = 1_000_000;
    private static final long LONGEST_PAUSE_NS = 5_000_000;
    /** The pause between two checks is 1/16 of the time that has passed, so a long wait uses little processor time. */
    private static final int PAUSE_PART = 16;
    /** After a slow check, such as running a command, the pause is as long as the check, up to this limit. */
    private static final long LONGEST_PAUSE_AFTER_CHECK_NS = 500_000_000;

    private Await() {}

    /**
     * Waits until the condition is true. Throws an {@link AssertionError} with the message after {@link #BOUND} or an interrupt.
     */
    public static void await(String message, Callable<Boolean> condition) {
        await(message, BOUND, condition);
    }

    /**
     * Waits until the condition is true. Throws an {@link AssertionError} with the message after {@code bound} or an interrupt.
     */
    public static void await(String message, Duration bound, Callable<Boolean> condition) {
        await(() -> message, bound, condition);
    }

    /**
     * Waits until the condition is true. Throws an {@link AssertionError} after {@code bound}, or if the thread is interrupted.
     * The message is computed only for this error.
     */
    public static void await(Supplier<String> message, Duration bound, Callable<Boolean> condition) {
        long startedNs = System.nanoTime();
        long checkedNs = startedNs;
        while (!holds(message, condition)) {
            long nowNs = System.nanoTime();
            long passedNs = nowNs - startedNs;
            if (passedNs > bound.toNanos()) {
                throw new AssertionError("this condition was false for " + bound.toSeconds() + " s: " + message.get());
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new AssertionError("the thread was interrupted before this condition was true: " + message.get());
            }
            long pauseNs = Math.clamp(passedNs / PAUSE_PART, SHORTEST_PAUSE_NS, LONGEST_PAUSE_NS);
            LockSupport.parkNanos(Math.max(pauseNs, Math.min(nowNs - checkedNs, LONGEST_PAUSE_AFTER_CHECK_NS)));
            checkedNs = System.nanoTime();
        }
    }

    private static boolean holds(Supplier<String> message, Callable<Boolean> condition) {
        try {
            return condition.call();
        } catch (Exception e) {
            throw new AssertionError("the check of this condition threw an exception: " + message.get(), e);
        }
    }
}
