package io.modeldisk.bench.report;

/**
 * How iterations went with one exchange scheme: means over all learners and all iterations that count, in milliseconds.
 *
 * @param exchange the scheme, as {@code overlap:adaptive}
 * @param iterationMs a whole iteration
 * @param medianMs the same, the median
 * @param slowMs the same, of which one in twenty takes longer
 * @param computeMs of it, computing
 * @param fileMs of it, reading the weights and writing the gradient
 * @param fsyncMs of it, in fsync
 * @param pushMs how long a push takes, whatever else goes on
 * @param bubbleMs how long a pull is put off after the push; 0 where it begins before the push has ended
 * @param pullMs how long a pull takes, beginning to end
 * @param ageMs how old weights are when computing on them begins
 * @param staleness how many rounds they lag behind the other learners then
 * @param learners how many learners there were
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

    /** How much longer an iteration takes than computing alone. */
    public double overComputation() {
        return iterationMs / computeMs;
    }

    /** How much longer it takes than the longest of computing, and pushing and pulling with {@code direct}. */
    public double over(TrainingResult direct) {
        return iterationMs / Math.max(computeMs, Math.max(direct.pushMs, direct.pullMs));
    }

    /** How many learners' computing is done in the time, of all. */
    public double speedUp() {
        return learners * computeMs / iterationMs;
    }
}
