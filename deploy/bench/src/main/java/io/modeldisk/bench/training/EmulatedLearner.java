package io.modeldisk.bench.training;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * A learner that repeats four steps: it reads weights, computes for a given time, writes a gradient, and completes the iteration.
 */
final class EmulatedLearner {
    private final LearnerPath path;
    private final Computation computation;
    private final long computationNs;
    private final int warmUp;
    private final long[] iterationNs;
    private long computeNs;
    private long fileNs;
    private long fsyncNs;

    EmulatedLearner(LearnerPath path, Computation computation, double computationMs, int warmUp, int iterations) {
        this.path = path;
        this.computation = computation;
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
            computation.until(readNs + computationNs);
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

    LearnerPath path() {
        return path;
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
