package io.modeldisk.gradient;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Trains random jobs, and compares the weights with a model in memory. A gradient must count as a whole or not at all. Of a
 * dropped gradient, exactly the bytes that the drop has reported must count. After the training, all blocks of all shards must be
 * in the same round.
 *
 * <p>The property {@code gradients.runs} is the number of jobs, and {@code gradients.seed} is the seed of the first job. A seed
 * determines the job and the actions of its learners, but not the order in which the threads run.
 */
@Timeout(20_000)
final class GradientLawTest {
    private static final int RUNS = Integer.getInteger("gradients.runs", 40);
    private static final long SEED = Long.getLong("gradients.seed", 1);

    @Test
    void everyGradientCountsOnceAndCompletelyOrNotAtAll() throws Exception {
        for (long seed = SEED; seed < SEED + RUNS; seed++) {
            try (RandomJob job = new RandomJob(Scenario.random(seed))) {
                try {
                    job.run();
                } catch (Exception | AssertionError e) {
                    throw new AssertionError("this job has failed; to repeat it: -Dgradients.seed=" + seed
                        + " -Dgradients.runs=1\n" + job.describe(), e);
                }
            }
        }
    }
}
