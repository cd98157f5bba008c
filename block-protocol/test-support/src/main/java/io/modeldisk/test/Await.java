package io.modeldisk.test;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waits, in bounded real time, until a condition holds. */
public final class Await {
    /** The default bound. */
    public static final Duration BOUND = Duration.ofSeconds(60);

    private static final long POLL_NS = 1_000_000;

    private Await() {}

    /** Waits until the condition holds; fails with the message after {@link #BOUND}, and at once if the thread is interrupted. */
    public static void await(String message, Callable<Boolean> condition) {
        await(message, BOUND, condition);
    }

    /** Waits until the condition holds; fails with the message after the bound, and at once if the thread is interrupted. */
    public static void await(String message, Duration bound, Callable<Boolean> condition) {
        await(() -> message, bound, condition);
    }

    /** The same, with a message that is made when the wait fails. */
    public static void await(Supplier<String> message, Duration bound, Callable<Boolean> condition) {
        long startedNs = System.nanoTime();
        while (!holds(message, condition)) {
            if (System.nanoTime() - startedNs > bound.toNanos()) {
                throw new AssertionError("did not happen within " + bound.toSeconds() + " s: " + message.get());
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new AssertionError("interrupted while waiting: " + message.get());
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private static boolean holds(Supplier<String> message, Callable<Boolean> condition) {
        try {
            return condition.call();
        } catch (Exception e) {
            throw new AssertionError("failed while waiting: " + message.get(), e);
        }
    }
}
