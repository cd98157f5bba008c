package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.striping.Arrivals;

/**
 * Measures the durations of pushes and pulls, and reports them to the counters, to the scheduler and to the trace. Not
 * thread-safe: {@link BackgroundExchange} calls this class under its lock.
 */
final class ExchangeTimes {
    private final ExchangeCounters counters;
    private final PullScheduler scheduler;
    /**
     * True if the learner computes during the exchange. Then the time from the end of a push to the start of the pull is
     * measured.
     */
    private final boolean overlaps;
    private final IterationTrace trace;
    private final NanoClock clock;
    private final Arrivals arrivals;
    private ExchangeSpan lastSpan;
    private long startedNs;
    private long checkedNs;
    private long pushedNs;
    private long pullStartedNs;
    private int piecesBeingPulled;
    private long pullingSinceNs;
    private long pullingNs;

    ExchangeTimes(ExchangeCounters counters, PullScheduler scheduler, boolean overlaps, IterationTrace trace,
        Arrivals arrivals) {
        this.arrivals = arrivals;
        this.counters = counters;
        this.scheduler = scheduler;
        this.overlaps = overlaps;
        this.trace = trace;
        this.clock = trace.clock();
    }

    /** Records that an exchange begins. */
    void begin() {
        startedNs = clock.nanoTime();
        checkedNs = startedNs;
        pushedNs = startedNs;
        piecesBeingPulled = 0;
        pullingNs = 0;
    }

    /** Records that the gradient was searched for NaN and infinity. */
    void checked() {
        checkedNs = clock.nanoTime();
        pushedNs = checkedNs;
    }

    /** Records that the shards have received the last byte of the gradient. */
    void allPushed() {
        pushedNs = clock.nanoTime();
    }

    /** Records that the push has ended, successfully or not. */
    void pushEnded(ExchangeJob job, ExchangeProgress progress) {
        if (progress.pushedBytes() > 0) {
            // The duration of a push does not include the wait for the aggregation, because this wait depends on other learners.
            long endNs = progress.isPushed() ? pushedNs : clock.nanoTime();
            counters.pushed(progress.pushedBytes(), endNs - startedNs);
            scheduler.pushed(endNs - startedNs);
            trace.add(Phase.PUSH, job.iteration(), startedNs, endNs);
        }
    }

    /** Records that the pull begins, after the push or during the push. */
    void pullBegins(ExchangeJob job, boolean pushed) {
        pullStartedNs = clock.nanoTime();
        arrivals.begin(pullStartedNs);
        if (overlaps && job.pushes()) {
            long pushEndedNs = pushed ? pushedNs : pullStartedNs;
            counters.bubbles.addNs(pullStartedNs - pushEndedNs);
            trace.add(Phase.BUBBLE, job.iteration(), pushEndedNs, pullStartedNs);
        }
    }

    /** Returns the time when the pull began. */
    long pullStartedNs() {
        return pullStartedNs;
    }

    void pieceBegins() {
        if (piecesBeingPulled++ == 0) {
            pullingSinceNs = clock.nanoTime();
        }
    }

    void pieceEnds() {
        if (--piecesBeingPulled == 0) {
            pullingNs += clock.nanoTime() - pullingSinceNs;
        }
    }

    /** Records that the pull has completed and all weights have arrived. */
    void pulled(ExchangeJob job, long bytes) {
        long nowNs = clock.nanoTime();
        counters.pulled(bytes, nowNs - pullStartedNs);
        // This duration excludes the time for which the pull waited for the push.
        scheduler.pulled(pullingNs);
        trace.add(Phase.PULL, job.iteration(), pullStartedNs, nowNs);
        long weightsNs = later(pushedNs, arrivals.firstNs());
        lastSpan = new ExchangeSpan(startedNs, checkedNs, pushedNs, weightsNs,
            later(weightsNs, nowNs - arrivals.lagNs()), nowNs, arrivals.lastShard(), job.pushes() ? 2 * bytes : bytes);
    }

    private static long later(long aNs, long bNs) {
        return aNs - bNs > 0 ? aNs : bNs;
    }

    /** Returns the times of the last exchange that has pulled weights; null if there was none. */
    ExchangeSpan lastSpan() {
        return lastSpan;
    }
}
