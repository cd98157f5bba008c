package io.modeldisk.mount.scheduling;

import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.function.IntToLongFunction;
import java.util.stream.LongStream;

/**
 * Simulates a learner and its exchange with a manual clock. In each iteration, the learner computes, and then waits until the
 * pull has completed. During the computation, the gradient of the previous iteration is pushed. After the push and a delay, the
 * weights are pulled.
 */
final class SimulatedLearner {
    private final ManualClock clock = new ManualClock();
    private final PullScheduler scheduler = new PullScheduler(clock);
    private final boolean adaptive;
    private final int iterations;
    private final long[] stallsNs;
    private final long[] agesNs;
    private final long[] durationsNs;

    private SimulatedLearner(boolean adaptive, int iterations) {
        this.adaptive = adaptive;
        this.iterations = iterations;
        this.stallsNs = new long[iterations];
        this.agesNs = new long[iterations];
        this.durationsNs = new long[iterations];
    }

    /** Simulates iterations. The functions return the durations of computation, push and pull in nanoseconds. */
    static SimulatedLearner run(boolean adaptive, int iterations, IntToLongFunction computation, IntToLongFunction push,
        IntToLongFunction pull) {
        SimulatedLearner learner = new SimulatedLearner(adaptive, iterations);
        for (int i = 0; i < iterations; i++) {
            learner.iterate(i, computation.applyAsLong(i), push.applyAsLong(i), pull.applyAsLong(i));
        }
        return learner;
    }

    private void iterate(int i, long computationNs, long pushNs, long pullNs) {
        long beginNs = clock.nanoTime();
        scheduler.computationBegins();
        setTime(beginNs + pushNs);
        scheduler.pushed(pushNs);
        // The pull begins after the delay, but no later than the end of the computation. If the push has not completed by then,
        // the pull begins after the push.
        long computedNs = beginNs + computationNs;
        long delayNs = adaptive ? Math.max(0, scheduler.delayNs()) : 0;
        long pullStartNs = Math.max(beginNs + pushNs, Math.min(beginNs + pushNs + delayNs, computedNs));
        long pulledNs = pullStartNs + pullNs;
        if (pulledNs < computedNs) {
            setTime(pulledNs);
            scheduler.pulled(pullNs);
            setTime(computedNs);
            scheduler.computationEnds();
        } else {
            setTime(computedNs);
            scheduler.computationEnds();
            setTime(pulledNs);
            scheduler.pulled(pullNs);
        }
        long nowNs = clock.nanoTime();
        stallsNs[i] = nowNs - computedNs;
        agesNs[i] = nowNs - pullStartNs;
        durationsNs[i] = nowNs - beginNs;
    }

    private void setTime(long timeNs) {
        clock.advance(Duration.ofNanos(timeNs - clock.nanoTime()));
    }

    PullScheduler scheduler() {
        return scheduler;
    }

    /** Returns the total stall divided by the total computation, from this iteration to the last. */
    double stallPart(int from) {
        long stalls = sum(stallsNs, from);
        return (double) stalls / (sum(durationsNs, from) - stalls);
    }

    /** Returns the mean age of the weights at their first use, from this iteration to the last. */
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
