package io.modeldisk.mount.trace;

import io.modeldisk.platform.time.NanoClock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * The phases of the last iterations, at most {@value #CAPACITY} of them; older ones are overwritten. Adding one allocates
 * nothing. Thread-safe.
 */
public final class IterationTrace {
    /** How many phases are kept; an iteration has up to five. */
    public static final int CAPACITY = 20_000;

    private final Phase[] phases = new Phase[CAPACITY];
    private final long[] iterations = new long[CAPACITY];
    private final long[] startsNs = new long[CAPACITY];
    private final long[] endsNs = new long[CAPACITY];
    private final NanoClock clock;
    private final long epochNs;
    private long added;

    /**
     * An empty trace.
     *
     * @param clock the clock of all times that are added
     * @param now the time of day now, which aligns the traces of several learners
     */
    public IterationTrace(NanoClock clock, Instant now) {
        this.clock = clock;
        this.epochNs = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - clock.nanoTime();
    }

    /** The clock of all times that are added. */
    public NanoClock clock() {
        return clock;
    }

    /** The time now, for {@link #add}. */
    public long nowNs() {
        return clock.nanoTime();
    }

    /** Adds a phase of an iteration, unless it took no time. */
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

    /** Visits the phases in the order in which they were added, with times in nanoseconds since 1970. */
    public synchronized void forEach(Visitor visitor) {
        for (long i = Math.max(0, added - CAPACITY); i < added; i++) {
            int at = (int) (i % CAPACITY);
            visitor.phase(phases[at], iterations[at], epochNs + startsNs[at], epochNs + endsNs[at]);
        }
    }

    /** How many phases were overwritten. */
    public synchronized long overwritten() {
        return Math.max(0, added - CAPACITY);
    }

    /** Visits phases. */
    @FunctionalInterface
    public interface Visitor {
        /** One phase. */
        void phase(Phase phase, long iteration, long startNs, long endNs);
    }
}
