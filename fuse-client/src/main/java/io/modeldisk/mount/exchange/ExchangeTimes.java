package io.modeldisk.mount.exchange;

import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.platform.time.NanoClock;

/**
 * Measures the times of exchanges and reports the times to the counters, to {@link Pacing} and to the trace. Not
 * thread-safe: {@link BackgroundExchange} calls this class under its lock.
 */
final class ExchangeTimes {
    private final ExchangeCounters counters;
    private final Pacing pacing;
    private final IterationTrace trace;
    private final NanoClock clock;
    private long startedNs;
    private long pushedNs;
    private long pullStartedNs;
    private int piecesBeingPulled;
    private long pullingSinceNs;
    private long pullingNs;

    ExchangeTimes(ExchangeCounters counters, Pacing pacing, IterationTrace trace) {
        this.counters = counters;
        this.pacing = pacing;
        this.trace = trace;
        this.clock = trace.clock();
    }

    /** Records that an exchange begins. */
    void begin() {
        startedNs = clock.nanoTime();
        pushedNs = startedNs;
        piecesBeingPulled = 0;
        pullingNs = 0;
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
            pacing.pushed(endNs - startedNs);
            trace.add(Phase.PUSH, job.iteration(), startedNs, endNs);
        }
    }

    /** Records that the pull begins, after the push or during the push. */
    void pullBegins(ExchangeJob job, boolean pushed) {
        pullStartedNs = clock.nanoTime();
        if (job.pushes()) {
            pacing.pullBegins(job.iteration(), pushed ? pushedNs : pullStartedNs, pullStartedNs);
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
        pacing.pulled(pullingNs);
        trace.add(Phase.PULL, job.iteration(), pullStartedNs, nowNs);
    }
}
