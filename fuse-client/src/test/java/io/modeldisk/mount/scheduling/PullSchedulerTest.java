package io.modeldisk.mount.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.util.Random;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the scheduler with simulated learners and simulated time, so every run gives the same numbers. */
final class PullSchedulerTest {
    private static final long MS = 1_000_000;
    private static final int ITERATIONS = 2_000;
    /** The number of iterations after which the averages are stable. */
    private static final int WARM = 60;

    private static final IntToLongFunction COMPUTATION = constant(30);
    private static final IntToLongFunction PUSH = constant(8);
    private static final IntToLongFunction PULL = constant(5);

    private static IntToLongFunction constant(long ms) {
        return i -> ms * MS;
    }

    /** Returns normally distributed durations, whose standard deviation is this fraction of the mean. */
    private static IntToLongFunction jittery(long seed, double ms, double part) {
        double[] values = new Random(seed).doubles(ITERATIONS).toArray();
        Random random = new Random(seed);
        for (int i = 0; i < values.length; i++) {
            values[i] = ms * MS * Math.max(0.1, 1 + part * random.nextGaussian());
        }
        return i -> (long) values[i];
    }

    private static SimulatedLearner adaptive(IntToLongFunction computation, IntToLongFunction pull) {
        return SimulatedLearner.run(true, ITERATIONS, computation, PUSH, pull);
    }

    private static SimulatedLearner atOnce(IntToLongFunction computation, IntToLongFunction pull) {
        return SimulatedLearner.run(false, ITERATIONS, computation, PUSH, pull);
    }

    @Test
    void pullStartsWithoutDelayUntilTheFirstMeasurement() {
        PullScheduler scheduler = new PullScheduler(new ManualClock());
        scheduler.computationBegins();
        assertThat(scheduler.delayNs()).isZero();
    }

    @Test
    void pullCompletesJustBeforeASteadyComputationEnds() {
        SimulatedLearner learner = adaptive(COMPUTATION, PULL);
        assertThat(learner.stallPart(0)).isZero();
        // The age of the weights is the duration of the pull, plus a margin of 0.5 ms, plus the mean deviations, which decrease
        // to 0.
        assertThat(learner.meanAgeNs(WARM)).isBetween(5.5 * MS, 5.6 * MS);
        assertThat(atOnce(COMPUTATION, PULL).meanAgeNs(WARM)).isEqualTo(22.0 * MS);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void adaptivePullBringsFresherWeightsWithFewStallsDespiteJitter(long seed) {
        IntToLongFunction computation = jittery(seed, 30, 0.05);
        IntToLongFunction pull = jittery(seed + 100, 5, 0.1);
        SimulatedLearner learner = adaptive(computation, pull);
        SimulatedLearner atOnce = atOnce(computation, pull);
        assertThat(learner.stallPart(WARM)).isLessThan(0.005);
        assertThat(learner.meanAgeNs(WARM)).isLessThan(0.6 * atOnce.meanAgeNs(WARM));
        assertThat(learner.durationNs()).isLessThan((long) (1.005 * atOnce.durationNs()));
    }

    @Test
    void pullStartsEarlierWhenComputationsHaveMoreJitter() {
        double last = 0;
        for (double part : new double[]{0, 0.02, 0.05, 0.1}) {
            double age = adaptive(jittery(7, 30, part), PULL).meanAgeNs(WARM);
            assertThat(age).isGreaterThan(last);
            last = age;
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 0.01})
    void learnerDoesNotStallWhenItsComputationTimeDrifts(double msAnIteration) {
        IntToLongFunction computation = i -> (long) ((40 + msAnIteration * i) * MS);
        SimulatedLearner learner = adaptive(computation, PULL);
        assertThat(learner.stallPart(WARM)).isZero();
        assertThat(learner.meanAgeNs(WARM)).isLessThan(0.5 * atOnce(computation, PULL).meanAgeNs(WARM));
    }

    @Test
    void learnerThatBecomesFasterStallsForAtMostOneWindowOfIterations() {
        SimulatedLearner learner = adaptive(i -> (i < 1_000 ? 40 : 25) * MS, PULL);
        assertThat(learner.stallPart(1_000 + PullScheduler.WINDOW)).isZero();
        // In each of the stalled iterations, the learner waits at most for one pull, so the total stall is short.
        assertThat(learner.stallPart(0)).isLessThan(0.001);
    }

    @ParameterizedTest
    @ValueSource(longs = {2, 10, 100})
    void ageOfTheWeightsRecoversWithinFiveWindowsAfterOneLongComputation(long times) {
        SimulatedLearner learner = adaptive(i -> (i == 1_000 ? times * 30 : 30) * MS, PULL);
        assertThat(learner.stallPart(WARM)).isZero();
        assertThat(learner.ageNs(1_001)).isGreaterThan(learner.ageNs(999));
        assertThat(learner.ageNs(1_000 + 5 * PullScheduler.WINDOW)).isLessThan(learner.ageNs(999) + 2 * MS);
    }

    @Test
    void slowPullStallsOnlyItsOwnIteration() {
        IntToLongFunction pull = i -> (i % 100 == 50 ? 60 : 5) * MS;
        SimulatedLearner learner = adaptive(COMPUTATION, pull);
        // One pull in 100 iterations is longer than the computation, and the learner must wait 38 ms for it.
        double unavoidable = atOnce(COMPUTATION, pull).stallPart(WARM);
        assertThat(learner.stallPart(WARM)).isLessThan(unavoidable + 0.01);
        assertThat(learner.meanAgeNs(WARM)).isLessThan(0.9 * atOnce(COMPUTATION, pull).meanAgeNs(WARM));
    }

    @Test
    void pullStartsEarlierWhenAShardBecomesSlow() {
        IntToLongFunction pull = i -> (i < 1_000 ? 5 : 15) * MS;
        SimulatedLearner learner = adaptive(COMPUTATION, pull);
        assertThat(learner.stallPart(1_000 + PullScheduler.WINDOW)).isZero();
        assertThat(learner.ageNs(ITERATIONS - 1)).isBetween(15 * MS, 16 * MS);
    }

    @Test
    void pullRunsDuringThePushWhenCommunicationTakesLongerThanComputation() {
        PullScheduler scheduler = SimulatedLearner.run(true, ITERATIONS, constant(10), PUSH, PULL).scheduler();
        assertThat(scheduler.forecast().isDuplex()).isTrue();
        scheduler.computationBegins();
        // The push takes 8 ms, and the pull starts before the push has completed.
        assertThat(scheduler.delayNs()).isLessThan(8 * MS);
        SimulatedLearner sequential = SimulatedLearner.run(false, ITERATIONS, constant(10), PUSH, PULL);
        SimulatedLearner learner = SimulatedLearner.run(true, ITERATIONS, constant(10), PUSH, PULL);
        assertThat(learner.durationNs()).isEqualTo(sequential.durationNs());
    }

    @Test
    void abandonedComputationDoesNotChangeTheForecast() {
        PullScheduler scheduler = SimulatedLearner.run(true, 100, COMPUTATION, PUSH, PULL).scheduler();
        double before = scheduler.forecast().computationMs();
        scheduler.computationBegins();
        scheduler.computationIsAbandoned();
        scheduler.computationEnds();
        assertThat(scheduler.forecast().computationMs()).isEqualTo(before);
    }

    @Test
    void weightOfASampleInTheAverageIsBelowOnePercentAfter25FurtherSamples() {
        MovingAverage average = new MovingAverage(PullScheduler.WINDOW);
        for (int i = 0; i < 100; i++) {
            average.add(0);
        }
        average.add(1);
        for (int i = 0; i < 25; i++) {
            average.add(0);
        }
        assertThat(average.mean()).isBetween(0.0, 0.01);
    }
}
