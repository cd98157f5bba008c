package io.modeldisk.mount.exchange;

import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.platform.time.NanoClock;

/**
 * Measures one exchange after the other, and reports to counters, {@link Pacing} and trace. Not thread-safe:
 * {@link BackgroundExchange} guards it with its lock.
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

    /** An exchange begins. */
    void begin() {
        startedNs = clock.nanoTime();
        pushedNs = startedNs;
        piecesBeingPulled = 0;
        pullingNs = 0;
    }

    /** The shards have the last byte of the gradient. */
    void allPushed() {
        pushedNs = clock.nanoTime();
    }

    /** The push has ended, also if it has failed. */
    void pushEnded(ExchangeJob job, ExchangeProgress progress) {
        if (progress.pushedBytes() > 0) {
            // After the last byte the push waits for other learners, not for the network.
            long endNs = progress.isPushed() ? pushedNs : clock.nanoTime();
            counters.pushed(progress.pushedBytes(), endNs - startedNs);
            pacing.pushed(endNs - startedNs);
            trace.add(Phase.PUSH, job.iteration(), startedNs, endNs);
        }
    }

    /** The pull begins, after the push or beside it. */
    void pullBegins(ExchangeJob job, boolean pushed) {
        pullStartedNs = clock.nanoTime();
        if (job.pushes()) {
            pacing.pullBegins(job.iteration(), pushed ? pushedNs : pullStartedNs, pullStartedNs);
        }
    }

    /** When the pull has begun. */
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

    /** The pull has ended, and all weights are there. */
    void pulled(ExchangeJob job, long bytes) {
        long nowNs = clock.nanoTime();
        counters.pulled(bytes, nowNs - pullStartedNs);
        pacing.pulled(pullingNs);
        trace.add(Phase.PULL, job.iteration(), pullStartedNs, nowNs);
    }
}
