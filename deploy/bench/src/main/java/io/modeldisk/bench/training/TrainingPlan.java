package io.modeldisk.bench.training;

import java.nio.file.Path;
import java.util.List;

/**
 * What to measure.
 *
 * @param model what the model is called in the report
 * @param modelBytes its size, a multiple of 4
 * @param computeMs how long an iteration computes
 * @param computation how
 * @param learners how many learners there are
 * @param shards how many shards
 * @param variants the exchange schemes, in the order in which they are measured
 * @param iterations how many iterations count
 * @param warmUp how many go before them
 * @param throughMount whether learners use the file of a mount, or the initiator
 * @param consistency the shards' mode
 * @param aggregator the shards' aggregator
 * @param linkBytesPerSecond how fast each learner's emulated link is, each way; 0: no link is emulated
 * @param traces where each learner's trace is left; null: nowhere
 */
public record TrainingPlan(
    String model,
    long modelBytes,
    double computeMs,
    Computation computation,
    int learners,
    int shards,
    List<Variant> variants,
    int iterations,
    int warmUp,
    boolean throughMount,
    String consistency,
    String aggregator,
    long linkBytesPerSecond,
    Path traces) {

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException that names the value, and what would be right
     */
    public TrainingPlan {
        require(modelBytes > 0 && modelBytes % Float.BYTES == 0, "size=" + modelBytes + " must be a multiple of 4");
        require(computeMs >= 0 && computeMs <= 60_000, "computeMs=" + computeMs + " must be from 0 to 60000");
        require(learners >= 1 && learners <= 64, "learners=" + learners + " must be from 1 to 64");
        require(shards >= 1 && shards <= 64, "shards=" + shards + " must be from 1 to 64");
        require(iterations >= 1, "iterations=" + iterations + " must be at least 1");
        require(warmUp >= 2,
            "warmUp=" + warmUp + " must be at least 2: the first two compute on what the open has pulled");
        require(linkBytesPerSecond >= 0, "link=" + linkBytesPerSecond + " must not be negative");
        require(!variants.isEmpty(), "no exchange is given");
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
