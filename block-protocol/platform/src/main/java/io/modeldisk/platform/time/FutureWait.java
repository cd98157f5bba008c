package io.modeldisk.platform.time;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ScopedLock.Held;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;

/** Waits for a future. A {@link NanoClock} measures the timeout. */
public final class FutureWait {
    private FutureWait() {}

    /** Waits until the future is done, normally or exceptionally. Returns false if the timeout passes first. */
    public static boolean isDoneWithin(CompletableFuture<?> future, Duration timeout, NanoClock clock)
        throws InterruptedException {
        long deadlineNs = clock.nanoTime() + timeout.toNanos();
        ScopedLock lock = new ScopedLock();
        Condition done = lock.newCondition();
        future.whenComplete((_, _) -> {
            try (Held _ = lock.hold()) {
                done.signalAll();
            }
        });
        try (Held _ = lock.hold()) {
            return clock.awaitUntil(done, future::isDone, deadlineNs);
        }
    }
}
