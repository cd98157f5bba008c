package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;

/**
 * Measures the iterations of a learner. In an iteration, the learner first computes, and then waits in fsync. Not thread-safe,
 * except {@link #fsyncCalled}: {@link BufferedExchange} calls the other methods while it holds its lock {@code turn}.
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

    /** Records that a learner has called fsync, and returns the current time. Thread-safe. */
    long fsyncCalled() {
        scheduler.computationEnds();
        return nowNs();
    }

    /** Records that the learner has called fsync. Must not be called for an fsync that repeats an interrupted fsync. */
    void fsyncBegins(long iteration, long calledNs) {
        trace.add(Phase.COMPUTE, iteration, computingSinceNs, calledNs);
        computingSinceNs = calledNs;
        stalledSinceNs = calledNs;
    }

    /**
     * Records that an fsync has succeeded.
     *
     * @param pushed whether the learner had written a gradient
     * @param pulledAtNs the start time of the pull that returned the weights in use
     */
    void fsyncSucceeded(long iteration, boolean pushed, long pulledAtNs) {
        long nowNs = nowNs();
        trace.add(Phase.STALL, iteration, stalledSinceNs, nowNs);
        counters.stalls.addNs(nowNs - stalledSinceNs);
        counters.synchronizedIn(nowNs - stalledSinceNs, pushed);
        counters.ages.addNs(nowNs - pulledAtNs);
    }
}
