package io.modeldisk.mount.trace;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The phases of the last iterations, at most {@value #CAPACITY} of them; older ones are overwritten. Adding one allocates
 * nothing. Thread-safe.
 */
public final class IterationTrace {
    /** How many phases are kept: five an iteration. */
    public static final int CAPACITY = 20_000;

    private final Phase[] phases = new Phase[CAPACITY];
    private final long[] iterations = new long[CAPACITY];
    private final long[] startsNs = new long[CAPACITY];
    private final long[] endsNs = new long[CAPACITY];
    private final LongSupplier nanoClock;
    private final long epochNs;
    private long added;

    /**
     * An empty trace.
     *
     * @param nanoClock the clock of all times that are added
     * @param epochMicros the time now, in microseconds since 1970: what aligns the traces of several learners
     */
    public IterationTrace(LongSupplier nanoClock, long epochMicros) {
        this.nanoClock = nanoClock;
        this.epochNs = TimeUnit.MICROSECONDS.toNanos(epochMicros) - nanoClock.getAsLong();
    }

    /** The time now, for {@link #add}. */
    public long nowNs() {
        return nanoClock.getAsLong();
    }

    /** Adds a phase of an iteration; one that took no time is left out. */
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

    /** Shows what is kept, in the order in which it was added, with times in nanoseconds since 1970. */
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

    /** Is shown phases. */
    @FunctionalInterface
    public interface Visitor {
        /** One phase. */
        void phase(Phase phase, long iteration, long startNs, long endNs);
    }
}
