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
    private final CopyTime copies;
    private long computingSinceNs;
    private long computationNs;
    private long copyNs;
    private long stalledSinceNs;

    IterationTimes(IterationTrace trace, ExchangeCounters counters, PullScheduler scheduler) {
        this.trace = trace;
        this.counters = counters;
        this.scheduler = scheduler;
        this.copies = new CopyTime(trace.clock());
    }

    /** Returns the time of copies between the learner and the buffers. */
    CopyTime copies() {
        return copies;
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
        long calledNs = nowNs();
        counters.recent.fsyncBegins(calledNs);
        return calledNs;
    }

    /** Records that an fsync returns, successfully or not. Thread-safe. */
    void fsyncReturns() {
        counters.recent.fsyncEnds();
    }

    /** Records that the learner has called fsync. Must not be called for an fsync that repeats an interrupted fsync. */
    void fsyncBegins(long iteration, long calledNs) {
        trace.add(Phase.COMPUTE, iteration, computingSinceNs, calledNs);
        computationNs = calledNs - computingSinceNs;
        copyNs = copies.takeNs();
        computingSinceNs = calledNs;
        stalledSinceNs = calledNs;
    }

    /**
     * Records that an fsync has succeeded.
     *
     * @param pushed whether the learner had written a gradient
     * @param pulledAtNs the start time of the pull that returned the weights in use
     * @param exchange the times of the exchange for which the fsync has waited; null if it has waited for none
     */
    void fsyncSucceeded(long iteration, boolean pushed, long pulledAtNs, ExchangeSpan exchange) {
        long nowNs = nowNs();
        trace.add(Phase.STALL, iteration, stalledSinceNs, nowNs);
        counters.stalls.addNs(nowNs - stalledSinceNs);
        counters.synchronizedIn(nowNs - stalledSinceNs, pushed);
        counters.ages.addNs(nowNs - pulledAtNs);
        // The first iteration does not count, because it includes the wait for the first weights.
        if (pushed && exchange != null && iteration > 1) {
            counters.recent.add(exchange.of(stalledSinceNs - computationNs, stalledSinceNs, nowNs, copyNs));
        }
    }
}
