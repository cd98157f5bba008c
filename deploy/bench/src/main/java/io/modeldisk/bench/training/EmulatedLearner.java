package io.modeldisk.bench.training;

import io.modeldisk.mount.trace.IterationTrace;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A learner that repeats four steps: it reads weights, computes for a given time, writes a gradient, and completes the iteration.
 */
final class EmulatedLearner {
    /** The typical delay of a wake-up. */
    private static final long WAKE_UP_NS = TimeUnit.MICROSECONDS.toNanos(120);

    private final LearnerPath path;
    private final IterationTrace trace;
    private final long computationNs;
    private final int warmUp;
    private final int iterations;

    /**
     * The times of the counted iterations.
     *
     * @param iterationNs the time of each iteration
     * @param computeNs the time of all computations together
     * @param fileNs the time spent on reading weights and writing gradients
     * @param fsyncNs the time spent in fsync
     */
    record Times(long[] iterationNs, long computeNs, long fileNs, long fsyncNs) {}

    EmulatedLearner(LearnerPath path, IterationTrace trace, double computationMs, int warmUp, int iterations) {
        this.path = path;
        this.trace = trace;
        this.computationNs = (long) (computationMs * TimeUnit.MILLISECONDS.toNanos(1));
        this.warmUp = warmUp;
        this.iterations = iterations;
    }

    /** Runs the warm-up iterations and then the counted iterations. */
    Times train() throws IOException {
        long[] iterationNs = new long[iterations];
        long computeNs = 0;
        long fileNs = 0;
        long fsyncNs = 0;
        long beganNs = System.nanoTime();
        for (int i = -warmUp; i < iterations; i++) {
            path.readWeights();
            long readNs = System.nanoTime();
            compute(readNs + computationNs);
            long computedNs = System.nanoTime();
            path.writeGradient();
            long writtenNs = System.nanoTime();
            path.synchronize();
            long endedNs = System.nanoTime();
            if (i >= 0) {
                iterationNs[i] = endedNs - beganNs;
                computeNs += computedNs - readNs;
                fileNs += readNs - beganNs + writtenNs - computedNs;
                fsyncNs += endedNs - writtenNs;
            }
            beganNs = endedNs;
        }
        return new Times(iterationNs, computeNs, fileNs, fsyncNs);
    }

    /** Sleeps, like a learner that waits for an accelerator. Spins for the last moment, because a thread wakes up late. */
    private static void compute(long endNs) {
        for (long leftNs = endNs - System.nanoTime(); leftNs > 0; leftNs = endNs - System.nanoTime()) {
            if (leftNs > WAKE_UP_NS) {
                LockSupport.parkNanos(leftNs - WAKE_UP_NS);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    /** The phases of the learner's iterations. */
    IterationTrace trace() {
        return trace;
    }
}
