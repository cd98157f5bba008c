package io.modeldisk.bench.report;

/**
 * The iterations with one exchange scheme: means over all learners and all counted iterations, in milliseconds.
 *
 * @param exchange the scheme, as {@code overlap:adaptive}
 * @param iterationMs a whole iteration
 * @param medianMs the median of iterations
 * @param slowMs the 95th percentile of iterations
 * @param computeMs the part for computation
 * @param fileMs the part for reading the weights and writing the gradient
 * @param fsyncMs the part in fsync
 * @param pushMs the duration of a push
 * @param bubbleMs the delay of a pull after the push; 0 if the pull starts before the push ends
 * @param pullMs the duration of a pull
 * @param ageMs the age of the weights at the start of the computation
 * @param staleness the number of rounds that they lag behind the other learners
 * @param learners the number of learners
 */
public record TrainingResult(
    String exchange,
    double iterationMs,
    double medianMs,
    double slowMs,
    double computeMs,
    double fileMs,
    double fsyncMs,
    double pushMs,
    double bubbleMs,
    double pullMs,
    double ageMs,
    double staleness,
    int learners) {

    /** The ratio of an iteration to its computation. */
    public double overComputation() {
        return iterationMs / computeMs;
    }

    /** The ratio of an iteration to the longest of its computation, and of push and pull with {@code direct}. */
    public double over(TrainingResult direct) {
        return iterationMs / Math.max(computeMs, Math.max(direct.pushMs, direct.pullMs));
    }

    /** The number of learners that would compute as much without communication. */
    public double speedUp() {
        return learners * computeMs / iterationMs;
    }
}
