package io.modeldisk.platform.time;

import java.time.Duration;
import java.util.concurrent.locks.Condition;

/**
 * Measures the time during which this process runs. The clock stops while the process is suspended (SIGSTOP, a paused virtual
 * machine, a starved container). The timeouts that detect dead peers use this clock, so a pause of this process does not
 * make a live peer appear dead.
 *
 * <p>A periodic thread, such as a {@link PeriodicThread}, calls {@link #tick}. Between two calls, the clock advances by at most
 * the longest step. Thread-safe.
 */
public final class RunningClock implements NanoClock {
    /** The default of the longest step, which suits a tick every 100 ms. A longer time without a tick counts as a pause. */
    public static final Duration DEFAULT_LONGEST_STEP = Duration.ofSeconds(1);

    private final NanoClock clock;
    private final long longestStepNs;
    private volatile Tick last;

    private record Tick(long clockNs, long runningNs) {}

    /** Creates a clock that starts at the time of {@code clock}. */
    public RunningClock(NanoClock clock, Duration longestStep) {
        this.clock = clock;
        this.longestStepNs = longestStep.toNanos();
        long nowNs = clock.nanoTime();
        this.last = new Tick(nowNs, nowNs);
    }

    /** Advances the clock, and returns the new time. */
    public synchronized long tick() {
        long nowNs = clock.nanoTime();
        long runningNs = runningNs(last, nowNs);
        last = new Tick(nowNs, runningNs);
        return runningNs;
    }

    @Override
    public long nanoTime() {
        // The last tick is read first and the time second. In the opposite order, the tick could be later than the time.
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
