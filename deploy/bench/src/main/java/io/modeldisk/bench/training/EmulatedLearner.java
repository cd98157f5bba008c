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
    private final long[] iterationNs;
    private long computeNs;
    private long fileNs;
    private long fsyncNs;

    EmulatedLearner(LearnerPath path, IterationTrace trace, double computationMs, int warmUp, int iterations) {
        this.path = path;
        this.trace = trace;
        this.computationNs = (long) (computationMs * TimeUnit.MILLISECONDS.toNanos(1));
        this.warmUp = warmUp;
        this.iterationNs = new long[iterations];
    }

    /** Runs the warm-up iterations and then the counted iterations. */
    void train() throws IOException {
        long beganNs = System.nanoTime();
        for (int i = -warmUp; i < iterationNs.length; i++) {
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
    }

    /** Sleeps, like a learner that waits for an accelerator. The last moment is spent spinning, since a wake-up is late. */
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

    long[] iterationNs() {
        return iterationNs;
    }

    /** The total computation time of all counted iterations. */
    long computeNs() {
        return computeNs;
    }

    /** The total time that all counted iterations spent on reading weights and writing gradients. */
    long fileNs() {
        return fileNs;
    }

    /** The total time that all counted iterations spent in fsync. */
    long fsyncNs() {
        return fsyncNs;
    }
}
