package io.modeldisk.platform.time;

import java.time.Duration;
import java.util.concurrent.locks.Condition;

/**
 * The time in which this process was running: it stands still while the process is stopped (SIGSTOP, a paused virtual machine, a
 * starved container). Timeouts of peers are measured with it, so that nobody is taken for dead because this process did not
 * listen.
 *
 * <p>A periodic thread calls {@link #tick}; from one call to the next the time moves on by at most the longest step.
 * {@link PeriodicThread} does so. Thread-safe.
 */
public final class RunningClock implements NanoClock {
    /** For a period of 100 ms: a process that does not get the processor for longer counts as stopped. */
    public static final Duration DEFAULT_LONGEST_STEP = Duration.ofSeconds(1);

    private final NanoClock clock;
    private final long longestStepNs;
    private volatile Tick last;

    private record Tick(long clockNs, long runningNs) {}

    /** A clock that starts at the time of {@code clock}. */
    public RunningClock(NanoClock clock, Duration longestStep) {
        this.clock = clock;
        this.longestStepNs = longestStep.toNanos();
        long nowNs = clock.nanoTime();
        this.last = new Tick(nowNs, nowNs);
    }

    /** Moves the time on; returns it. */
    public synchronized long tick() {
        long nowNs = clock.nanoTime();
        long runningNs = runningNs(last, nowNs);
        last = new Tick(nowNs, runningNs);
        return runningNs;
    }

    @Override
    public long nanoTime() {
        // The tick first: a later one would be ahead of the time.
        Tick tick = last;
        return runningNs(tick, clock.nanoTime());
    }

    private long runningNs(Tick tick, long nowNs) {
        return tick.runningNs + Math.min(nowNs - tick.clockNs, longestStepNs);
    }

    @Override
    public boolean awaitUntil(Condition condition, long deadlineNs) throws InterruptedException {
        return clock.awaitUntil(condition, clock.nanoTime() + (deadlineNs - nanoTime()));
    }

    @Override
    public void sleepUntil(long deadlineNs) throws InterruptedException {
        for (long leftNs = deadlineNs - nanoTime(); leftNs > 0; leftNs = deadlineNs - nanoTime()) {
            clock.sleepUntil(clock.nanoTime() + leftNs);
        }
    }

    @Override
    public String toString() {
        return "running time of " + clock;
    }
}
