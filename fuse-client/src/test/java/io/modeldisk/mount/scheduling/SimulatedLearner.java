package io.modeldisk.mount.scheduling;

import java.util.function.IntToLongFunction;
import java.util.stream.LongStream;

/**
 * A learner and its exchange on a clock that only this moves: each iteration computes while the set of the one before is pushed,
 * the bubble slept and the weights pulled; then the learner waits for the pull, if it has not ended.
 */
final class SimulatedLearner {
    private final PullScheduler scheduler = new PullScheduler(() -> this.nowNs);
    private final boolean adaptive;
    private final int iterations;
    private final long[] stallsNs;
    private final long[] agesNs;
    private final long[] durationsNs;
    private long nowNs = 1_000_000_007L;

    private SimulatedLearner(boolean adaptive, int iterations) {
        this.adaptive = adaptive;
        this.iterations = iterations;
        this.stallsNs = new long[iterations];
        this.agesNs = new long[iterations];
        this.durationsNs = new long[iterations];
    }

    /** Runs iterations whose computation, push and pull take so long, by iteration, in nanoseconds. */
    static SimulatedLearner run(boolean adaptive, int iterations, IntToLongFunction computation, IntToLongFunction push,
        IntToLongFunction pull) {
        SimulatedLearner learner = new SimulatedLearner(adaptive, iterations);
        for (int i = 0; i < iterations; i++) {
            learner.iterate(i, computation.applyAsLong(i), push.applyAsLong(i), pull.applyAsLong(i));
        }
        return learner;
    }

    private void iterate(int i, long computationNs, long pushNs, long pullNs) {
        long beginNs = nowNs;
        scheduler.computationBegins();
        nowNs = beginNs + pushNs;
        scheduler.pushed(pushNs);
        // Without full duplex: a pull begins after the push at the earliest, and when the learner waits at the latest.
        long computedNs = beginNs + computationNs;
        long delayNs = adaptive ? Math.max(0, scheduler.delayNs()) : 0;
        long pullStartNs = Math.max(nowNs, Math.min(nowNs + delayNs, computedNs));
        long pulledNs = pullStartNs + pullNs;
        if (pulledNs < computedNs) {
            nowNs = pulledNs;
            scheduler.pulled(pullNs);
            nowNs = computedNs;
            scheduler.computationEnds();
        } else {
            nowNs = computedNs;
            scheduler.computationEnds();
            nowNs = pulledNs;
            scheduler.pulled(pullNs);
        }
        stallsNs[i] = nowNs - computedNs;
        agesNs[i] = nowNs - pullStartNs;
        durationsNs[i] = nowNs - beginNs;
    }

    PullScheduler scheduler() {
        return scheduler;
    }

    /** How much longer iterations from this one on took than computing alone, as a part of it. */
    double stallPart(int from) {
        long stalls = sum(stallsNs, from);
        return (double) stalls / (sum(durationsNs, from) - stalls);
    }

    /** How old weights were when they were first used, from this iteration on. */
    double meanAgeNs(int from) {
        return (double) sum(agesNs, from) / (iterations - from);
    }

    long ageNs(int iteration) {
        return agesNs[iteration];
    }

    long durationNs() {
        return sum(durationsNs, 0);
    }

    private static long sum(long[] values, int from) {
        return LongStream.of(values).skip(from).sum();
    }
}
