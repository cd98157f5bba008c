package io.modeldisk.test;

import io.modeldisk.platform.time.NanoClock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;

/** A clock whose time changes only when the test advances it. Thread-safe. */
public final class ManualClock implements NanoClock {
    /** The interval in real time at which a waiting thread checks this clock. */
    private static final long POLL_NS = 1_000_000;

    private final AtomicLong nowNs = new AtomicLong(1);
    private final AtomicInteger waiting = new AtomicInteger();

    @Override
    public long nanoTime() {
        return nowNs.get();
    }

    /** Advances the clock. Threads whose deadline has passed wake up within a few milliseconds of real time. */
    public void advance(Duration duration) {
        nowNs.addAndGet(duration.toNanos());
    }

    /** Returns the number of threads that currently wait for a deadline. */
    public int waitingThreads() {
        return waiting.get();
    }

    @Override
    public boolean awaitUntil(Condition condition, long deadlineNs) throws InterruptedException {
        waiting.incrementAndGet();
        try {
            if (nowNs.get() - deadlineNs < 0) {
                // This method waits only once, even if neither a signal arrives nor the deadline passes. The caller then checks
                // its state. A loop here could miss a signal that arrives at the end of a wait.
                condition.awaitNanos(POLL_NS);
            }
            return nowNs.get() - deadlineNs < 0;
        } finally {
            waiting.decrementAndGet();
        }
    }

    @Override
    public void sleepUntil(long deadlineNs) throws InterruptedException {
        waiting.incrementAndGet();
        try {
            while (nowNs.get() - deadlineNs < 0) {
                TimeUnit.NANOSECONDS.sleep(POLL_NS);
            }
        } finally {
            waiting.decrementAndGet();
        }
    }
}
