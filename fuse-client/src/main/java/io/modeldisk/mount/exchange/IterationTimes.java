package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;

/**
 * Measures the iterations of a learner: it computes until it calls fsync, and waits until the fsync ends. Not thread-safe:
 * {@link BufferedExchange} calls this class while it holds its turn, except {@link #fsyncCalled}.
 */
final class IterationTimes {
    private final IterationTrace trace;
    private final ExchangeCounters counters;
    private final PullScheduler scheduler;
    private long computingSinceNs;
    private long stalledSinceNs;

    IterationTimes(IterationTrace trace, ExchangeCounters counters, PullScheduler scheduler) {
        this.trace = trace;
        this.counters = counters;
        this.scheduler = scheduler;
    }

    long nowNs() {
        return trace.clock().nanoTime();
    }

    /** Records that the learner begins to compute. */
    void computationBegins(boolean learner) {
        computingSinceNs = nowNs();
        if (learner) {
            scheduler.computationBegins();
        }
    }

    /** Returns the current time, at which a learner has called fsync. Thread-safe. */
    long fsyncCalled() {
        scheduler.computationEnds();
        return nowNs();
    }

    /** Records that the learner has called fsync, which is not the repetition of an interrupted fsync. */
    void fsyncBegins(long iteration, long calledNs) {
        trace.add(Phase.COMPUTE, iteration, computingSinceNs, calledNs);
        computingSinceNs = calledNs;
        stalledSinceNs = calledNs;
    }

    /**
     * Records that an fsync has succeeded.
     *
     * @param pushed whether the learner had written a gradient
     * @param pulledAtNs the time when the pull of the weights began that the learner uses now
     */
    void fsyncSucceeded(long iteration, boolean pushed, long pulledAtNs) {
        long nowNs = nowNs();
        trace.add(Phase.STALL, iteration, stalledSinceNs, nowNs);
        counters.stalls.addNs(nowNs - stalledSinceNs);
        counters.synchronizedIn(nowNs - stalledSinceNs, pushed);
        counters.ages.addNs(nowNs - pulledAtNs);
    }
}
