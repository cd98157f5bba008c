package io.modeldisk.bench.report;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The measured iterations with one exchange scheme. Times are in milliseconds, and are means over all learners and all counted
 * iterations unless the parameter names a percentile.
 *
 * @param exchange the scheme, such as {@code overlap:adaptive}
 * @param iterationMs the duration of an iteration
 * @param medianMs the median duration of an iteration
 * @param slowMs the 95th percentile of the duration of an iteration
 * @param computeMs the duration of the computation
 * @param fileMs the duration of reading the weights and writing the gradient
 * @param fsyncMs the duration of fsync
 * @param pushMs the duration of a push
 * @param bubbleMs the delay from the completion of a push to the start of a pull; 0 if the pull starts before the push
 *     completes
 * @param pullMs the duration of a pull
 * @param ageMs the age of the weights at the start of the computation
 * @param staleness the number of rounds of the other learners that are missing from the weights
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

    /** Returns the means of several results of the same scheme. */
    static TrainingResult mean(List<TrainingResult> results) {
        ToDoubleFunction<ToDoubleFunction<TrainingResult>> mean = figure -> results.stream().mapToDouble(figure)
            .average()
            .orElseThrow();
        TrainingResult first = results.getFirst();
        return new TrainingResult(first.exchange, mean.applyAsDouble(TrainingResult::iterationMs),
            mean.applyAsDouble(TrainingResult::medianMs), mean.applyAsDouble(TrainingResult::slowMs),
            mean.applyAsDouble(TrainingResult::computeMs), mean.applyAsDouble(TrainingResult::fileMs),
            mean.applyAsDouble(TrainingResult::fsyncMs), mean.applyAsDouble(TrainingResult::pushMs),
            mean.applyAsDouble(TrainingResult::bubbleMs), mean.applyAsDouble(TrainingResult::pullMs),
            mean.applyAsDouble(TrainingResult::ageMs), mean.applyAsDouble(TrainingResult::staleness), first.learners);
    }

    /** The ratio of the duration of an iteration to the duration of its computation. */
    public double overComputation() {
        return iterationMs / computeMs;
    }

    /**
     * The duration of an iteration, divided by the longest of three durations: the computation of this iteration, and the push
     * and the pull of the scheme {@code direct}.
     */
    public double over(TrainingResult direct) {
        return iterationMs / Math.max(computeMs, Math.max(direct.pushMs, direct.pullMs));
    }

    /** The number of learners that would complete the same iterations in the same time if communication took no time. */
    public double speedUp() {
        return learners * computeMs / iterationMs;
    }
}
