package io.modeldisk.platform.time;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/** A clock that uses {@link System#nanoTime()} and real waits. */
final class SystemNanoClock implements NanoClock {
    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public boolean awaitUntil(Condition condition, long deadlineNs) throws InterruptedException {
        return condition.awaitNanos(deadlineNs - System.nanoTime()) > 0;
    }

    @Override
    public void sleepUntil(long deadlineNs) throws InterruptedException {
        for (long leftNs = deadlineNs - System.nanoTime(); leftNs > 0; leftNs = deadlineNs - System.nanoTime()) {
            TimeUnit.NANOSECONDS.sleep(leftNs);
        }
    }

    @Override
    public String toString() {
        return "system clock";
    }
}
