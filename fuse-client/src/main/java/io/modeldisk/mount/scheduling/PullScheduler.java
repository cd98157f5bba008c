package io.modeldisk.mount.scheduling;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Predicts when a pull must start so that it ends just when the computation does (iRDMA, section IV.B). Weights that are pulled
 * later are fresher; weights that are pulled too late are waited for.
 *
 * <p>The start is the expected end of the computation, less the expected latency of the pull, less a margin. What is expected is
 * an exponential moving average over {@value #WINDOW} iterations. The margin is {@value #CAUTION} times the mean absolute
 * deviations of both, and {@value #GUARD_TEXT}: it grows with jitter, and after a burst it keeps the pull early until the
 * burst is forgotten. Before anything is known, and when computing is shorter than communicating, the pull starts at once, beside
 * the push.
 *
 * <p>Times are in nanoseconds of the clock. Thread-safe.
 */
public final class PullScheduler {
    /** Over how many iterations averages go. */
    public static final int WINDOW = 10;

    static final int CAUTION = 3;
    static final double GUARD_PART = 0.01;
    static final long GUARD_NS = TimeUnit.MICROSECONDS.toNanos(200);
    static final String GUARD_TEXT = "1 % of the computation and 0.2 ms";

    private final LongSupplier nanoClock;
    private final MovingAverage computation = new MovingAverage(WINDOW);
    private final MovingAverage push = new MovingAverage(WINDOW);
    private final MovingAverage pull = new MovingAverage(WINDOW);
    private long computingSinceNs;
    private boolean computing;

    /** A scheduler that knows nothing yet. */
    public PullScheduler(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.computingSinceNs = nanoClock.getAsLong();
    }

    /** The computation of an iteration begins. */
    public synchronized void computationBegins() {
        computingSinceNs = nanoClock.getAsLong();
        computing = true;
    }

    /** The computation has ended, whatever is waited for next. Does nothing if none had begun. */
    public synchronized void computationEnds() {
        if (computing) {
            computing = false;
            computation.add(nanoClock.getAsLong() - computingSinceNs);
        }
    }

    /** The learner is gone: what it was computing does not count. */
    public synchronized void computationIsAbandoned() {
        computing = false;
    }

    /** A push took this long. */
    public synchronized void pushed(long durationNs) {
        push.add(durationNs);
    }

    /** A pull took this long, without what it waited for. */
    public synchronized void pulled(long durationNs) {
        pull.add(durationNs);
    }

    /** How long from now until the pull should start; 0 or less: now. */
    public synchronized long delayNs() {
        if (computation.isEmpty() || pull.isEmpty()) {
            return 0;
        }
        double end = computingSinceNs + computation.mean();
        return (long) (end - pull.mean() - margin() - nanoClock.getAsLong());
    }

    /** What is known and expected now. */
    public synchronized Forecast forecast() {
        return new Forecast(ms(computation.mean()), ms(push.mean()), ms(pull.mean()), ms(margin()));
    }

    private double margin() {
        return CAUTION * (computation.deviation() + pull.deviation()) + GUARD_PART * computation.mean() + GUARD_NS;
    }

    private static double ms(double ns) {
        return ns / TimeUnit.MILLISECONDS.toNanos(1);
    }

    /**
     * What the scheduler expects, in milliseconds; 0 where nothing has been measured.
     *
     * @param computationMs the next computation
     * @param pushMs the next push
     * @param pullMs the next pull
     * @param marginMs how much earlier the pull is to end
     */
    public record Forecast(double computationMs, double pushMs, double pullMs, double marginMs) {
        /** Whether the pull goes beside the push, for there is no time to do one after the other. */
        public boolean isDuplex() {
            return pushMs + pullMs + marginMs > computationMs;
        }
    }
}
