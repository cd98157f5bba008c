package io.modeldisk.mount.trace;

import io.modeldisk.platform.time.NanoClock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * The phases of the last iterations. Keeps at most {@value #CAPACITY} phases and overwrites the oldest. Allocates no memory for
 * a new phase. Thread-safe.
 */
public final class IterationTrace {
    /** The maximum number of phases in the trace. An iteration has up to five phases. */
    public static final int CAPACITY = 20_000;

    private final Phase[] phases = new Phase[CAPACITY];
    private final long[] iterations = new long[CAPACITY];
    private final long[] startsNs = new long[CAPACITY];
    private final long[] endsNs = new long[CAPACITY];
    private final NanoClock clock;
    private final long epochNs;
    private long added;

    /**
     * Creates an empty trace.
     *
     * @param clock the clock that measures the times of all phases
     * @param now the current time of day, which aligns the traces of several learners
     */
    public IterationTrace(NanoClock clock, Instant now) {
        this.clock = clock;
        this.epochNs = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - clock.nanoTime();
    }

    /** Returns the clock that measures the times of all phases. */
    public NanoClock clock() {
        return clock;
    }

    /** Adds a phase of an iteration. Ignores a phase that took no time. */
    public synchronized void add(Phase phase, long iteration, long startNs, long endNs) {
        if (endNs <= startNs) {
            return;
        }
        int at = (int) (added++ % CAPACITY);
        phases[at] = phase;
        iterations[at] = iteration;
        startsNs[at] = startNs;
        endsNs[at] = endNs;
    }

    /** Visits the phases in the order in which they were added. Times are in nanoseconds since 1970. */
    public synchronized void forEach(Visitor visitor) {
        for (long i = Math.max(0, added - CAPACITY); i < added; i++) {
            int at = (int) (i % CAPACITY);
            visitor.phase(phases[at], iterations[at], epochNs + startsNs[at], epochNs + endsNs[at]);
        }
    }

    /** Returns the number of phases that were overwritten. */
    public synchronized long overwritten() {
        return Math.max(0, added - CAPACITY);
    }

    /** Receives the phases of a trace. */
    @FunctionalInterface
    public interface Visitor {
        /** Receives one phase. Times are in nanoseconds since 1970. */
        void phase(Phase phase, long iteration, long startNs, long endNs);
    }
}
