package io.modeldisk.platform.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Waits for a future. A {@link NanoClock} measures the timeout. */
public final class FutureWait {
    private FutureWait() {}

    /**
     * Waits until the future is done, normally or exceptionally, or the timeout has passed.
     *
     * @return false if the timeout has passed before the future was done
     */
    public static boolean isDoneWithin(CompletableFuture<?> future, Duration timeout, NanoClock clock)
        throws InterruptedException {
        long deadlineNs = clock.nanoTime() + timeout.toNanos();
        ReentrantLock lock = new ReentrantLock();
        Condition done = lock.newCondition();
        future.whenComplete((_, _) -> {
            lock.lock();
            try {
                done.signalAll();
            } finally {
                lock.unlock();
            }
        });
        lock.lock();
        try {
            while (!future.isDone()) {
                if (!clock.awaitUntil(done, deadlineNs)) {
                    return future.isDone();
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }
}
