package io.modeldisk.system;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Waits for what must happen, within a bound. */
final class Await {
    static final Duration BOUND = Duration.ofSeconds(60);

    private static final long POLL_NS = 5_000_000;

    private Await() {}

    static void await(Callable<Boolean> condition, String message) throws Exception {
        long startedNs = System.nanoTime();
        while (!condition.call()) {
            if (System.nanoTime() - startedNs > BOUND.toNanos()) {
                throw new AssertionError("never happened: " + message);
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }
}
