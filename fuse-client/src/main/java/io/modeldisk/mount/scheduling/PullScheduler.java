package io.modeldisk.mount.scheduling;

import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.TimeUnit;

/**
 * Predicts when a pull must start to end together with the computation (iRDMA, section IV.B). A later pull brings fresher
 * weights; if it is too late, the learner waits for it.
 *
 * <p>The pull starts at the expected end of the computation, minus the expected duration of the pull, minus a margin. Expected
 * values are exponential moving averages over {@value #WINDOW} iterations. The margin is {@value #CAUTION} times the mean
 * absolute deviations of computation and pull, plus {@value #GUARD_TEXT}. It grows with jitter; after a burst it keeps the pull
 * early until the average has forgotten the burst. The pull starts at once, beside the push, before the first measurements and
 * when the communication takes longer than the computation.
 *
 * <p>Times are in nanoseconds of the clock. Thread-safe.
 */
public final class PullScheduler {
    /** The number of iterations that an average spans. */
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

    /** A scheduler without measurements. */
    public PullScheduler(NanoClock clock) {
        this.clock = clock;
        this.computingSinceNs = clock.nanoTime();
    }

    /** The computation of an iteration begins. */
    public synchronized void computationBegins() {
        computingSinceNs = clock.nanoTime();
        computing = true;
    }

    /** The computation has ended. Does nothing if none had begun. */
    public synchronized void computationEnds() {
        if (computing) {
            computing = false;
            computation.add(clock.nanoTime() - computingSinceNs);
        }
    }

    /** The learner has gone: its last computation does not count. */
    public synchronized void computationIsAbandoned() {
        computing = false;
    }

    /** A push took this long. */
    public synchronized void pushed(long durationNs) {
        push.add(durationNs);
    }

    /** A pull took this long, without the time that it waited for the push. */
    public synchronized void pulled(long durationNs) {
        pull.add(durationNs);
    }

    /** The time until the pull should start; 0 or less: it should start now. */
    public synchronized long delayNs() {
        if (computation.isEmpty() || pull.isEmpty()) {
            return 0;
        }
        double end = computingSinceNs + computation.mean();
        return (long) (end - pull.mean() - margin() - clock.nanoTime());
    }

    /** The forecast of the next iteration. */
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
     * The expected durations, in milliseconds; 0 before the first measurement.
     *
     * @param computationMs the next computation
     * @param pushMs the next push
     * @param pullMs the next pull
     * @param marginMs how much earlier than the computation the pull should end
     */
    public record Forecast(double computationMs, double pushMs, double pullMs, double marginMs) {
        /** Whether the pull runs beside the push, because there is not enough time to run them one after the other. */
        public boolean isDuplex() {
            return pushMs + pullMs + marginMs > computationMs;
        }
    }
}
