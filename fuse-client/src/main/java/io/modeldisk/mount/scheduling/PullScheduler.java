package io.modeldisk.mount.scheduling;

import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.TimeUnit;

/**
 * Predicts when a pull must start so that it completes when the computation ends (iRDMA, section IV.B). A later pull returns
 * fresher weights, but if the pull starts too late, the learner has to wait for it.
 *
 * <p>The pull starts at the expected end of the computation, minus the expected duration of the pull, minus a margin. Expected
 * values are exponential moving averages over {@value #WINDOW} iterations. The margin is {@value #CAUTION} times the sum of the
 * mean absolute deviations of computation and pull, plus {@value #GUARD_TEXT}. The margin thus grows with jitter, and after one
 * long computation or pull, the pull starts earlier until the averages have recovered. The pull starts without delay in two
 * cases: before a computation and a pull have been measured, and when the pull and the margin together take longer than the
 * computation.
 *
 * <p>Times are in nanoseconds of the clock. Thread-safe.
 */
public final class PullScheduler {
    /** The number of iterations in the window of an average. */
    public static final int WINDOW = 10;

    static final int CAUTION = 3;
    static final double GUARD_PART = 0.01;
    static final long GUARD_NS = TimeUnit.MICROSECONDS.toNanos(200);
    static final String GUARD_TEXT = "1 % of the computation and 0.2 ms";

    private final NanoClock clock;
    private final MovingAverage computation = new MovingAverage(WINDOW);
    private final MovingAverage push = new MovingAverage(WINDOW);
    private final MovingAverage pull = new MovingAverage(WINDOW);
    private long computingSinceNs;
    private boolean computing;

    /** Creates a scheduler without measurements. */
    public PullScheduler(NanoClock clock) {
        this.clock = clock;
        this.computingSinceNs = clock.nanoTime();
    }

    /** Records that the computation of an iteration begins. */
    public synchronized void computationBegins() {
        computingSinceNs = clock.nanoTime();
        computing = true;
    }

    /** Records that the computation has ended. Does nothing if no computation had begun. */
    public synchronized void computationEnds() {
        if (computing) {
            computing = false;
            computation.add(clock.nanoTime() - computingSinceNs);
        }
    }

    /** Discards the measurement of the current computation, because the learner has left. */
    public synchronized void computationIsAbandoned() {
        computing = false;
    }

    /** Records the duration of a push. */
    public synchronized void pushed(long durationNs) {
        push.add(durationNs);
    }

    /** Records the duration of a pull, without the time that the pull waited for the push. */
    public synchronized void pulled(long durationNs) {
        pull.add(durationNs);
    }

    /** Returns the time until the pull should start. If the time is 0 or negative, the pull should start now. */
    public synchronized long delayNs() {
        if (computation.isEmpty() || pull.isEmpty()) {
            return 0;
        }
        double end = computingSinceNs + computation.mean();
        return (long) (end - pull.mean() - margin() - clock.nanoTime());
    }

    /** Returns the forecast of the next iteration. */
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
     * The expected durations in milliseconds; 0 before the first measurement.
     *
     * @param computationMs the duration of the next computation
     * @param pushMs the duration of the next push
     * @param pullMs the duration of the next pull
     * @param marginMs the time between the end of the pull and the end of the computation
     */
    public record Forecast(double computationMs, double pushMs, double pullMs, double marginMs) {
        /** Returns whether the pull runs during the push, because computation is shorter than push, pull and margin together. */
        public boolean isDuplex() {
            return pushMs + pullMs + marginMs > computationMs;
        }
    }
}
