package io.modeldisk.mount.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.util.Random;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Simulated learners: no real time, and the same numbers in every run. */
final class PullSchedulerTest {
    private static final long MS = 1_000_000;
    private static final int ITERATIONS = 2_000;
    /** After this many iterations the averages have settled. */
    private static final int WARM = 60;

    private static final IntToLongFunction COMPUTATION = constant(30);
    private static final IntToLongFunction PUSH = constant(8);
    private static final IntToLongFunction PULL = constant(5);

    private static IntToLongFunction constant(long ms) {
        return i -> ms * MS;
    }

    /** Normally distributed; the standard deviation is this part of the mean. */
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
    void pullStartsAtOnceBeforeTheFirstMeasurement() {
        PullScheduler scheduler = new PullScheduler(new ManualClock());
        scheduler.computationBegins();
        assertThat(scheduler.delayNs()).isZero();
    }

    @Test
    void pullOfASteadyLearnerEndsJustBeforeItsComputation() {
        SimulatedLearner learner = adaptive(COMPUTATION, PULL);
        assertThat(learner.stallPart(0)).isZero();
        // The pull itself, 1 % of the computation, 0.2 ms, and a rest of the first deviation.
        assertThat(learner.meanAgeNs(WARM)).isBetween(5.5 * MS, 5.6 * MS);
        assertThat(atOnce(COMPUTATION, PULL).meanAgeNs(WARM)).isEqualTo(22.0 * MS);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void jitteryLearnerStallsLessThanHalfAPercentAndHasFresherWeights(long seed) {
        IntToLongFunction computation = jittery(seed, 30, 0.05);
        IntToLongFunction pull = jittery(seed + 100, 5, 0.1);
        SimulatedLearner learner = adaptive(computation, pull);
        SimulatedLearner atOnce = atOnce(computation, pull);
        assertThat(learner.stallPart(WARM)).isLessThan(0.005);
        assertThat(learner.meanAgeNs(WARM)).isLessThan(0.6 * atOnce.meanAgeNs(WARM));
        assertThat(learner.durationNs()).isLessThan((long) (1.005 * atOnce.durationNs()));
    }

    @Test
    void pullStartsEarlierWithMoreJitter() {
        double last = 0;
        for (double part : new double[]{0, 0.02, 0.05, 0.1}) {
            double age = adaptive(jittery(7, 30, part), PULL).meanAgeNs(WARM);
            assertThat(age).isGreaterThan(last);
            last = age;
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 0.01})
    void learnerWithDriftDoesNotStall(double msAnIteration) {
        IntToLongFunction computation = i -> (long) ((40 + msAnIteration * i) * MS);
        SimulatedLearner learner = adaptive(computation, PULL);
        assertThat(learner.stallPart(WARM)).isZero();
        assertThat(learner.meanAgeNs(WARM)).isLessThan(0.5 * atOnce(computation, PULL).meanAgeNs(WARM));
    }

    @Test
    void learnerThatBecomesQuickerStallsForOneWindowAtMost() {
        SimulatedLearner learner = adaptive(i -> (i < 1_000 ? 40 : 25) * MS, PULL);
        assertThat(learner.stallPart(1_000 + PullScheduler.WINDOW)).isZero();
        // An iteration never waits for longer than a pull.
        assertThat(learner.stallPart(0)).isLessThan(0.001);
    }

    @ParameterizedTest
    @ValueSource(longs = {2, 10, 100})
    void longComputationCausesNoStallAndIsForgottenAfterFiveWindows(long times) {
        SimulatedLearner learner = adaptive(i -> (i == 1_000 ? times * 30 : 30) * MS, PULL);
        assertThat(learner.stallPart(WARM)).isZero();
        assertThat(learner.ageNs(1_001)).isGreaterThan(learner.ageNs(999));
        assertThat(learner.ageNs(1_000 + 5 * PullScheduler.WINDOW)).isLessThan(learner.ageNs(999) + 2 * MS);
    }

    @Test
    void slowPullStallsItsOwnIterationOnly() {
        IntToLongFunction pull = i -> (i % 100 == 50 ? 60 : 5) * MS;
        SimulatedLearner learner = adaptive(COMPUTATION, pull);
        // Even a pull at once would wait for a pull that is longer than the computation: 38 ms in 100 iterations.
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
    void pullRunsBesideThePushWhenCommunicationTakesLongerThanComputation() {
        PullScheduler scheduler = SimulatedLearner.run(true, ITERATIONS, constant(10), PUSH, PULL).scheduler();
        assertThat(scheduler.forecast().isDuplex()).isTrue();
        scheduler.computationBegins();
        // Eight milliseconds of pushing are to come: the pull starts beside them.
        assertThat(scheduler.delayNs()).isLessThan(8 * MS);
        SimulatedLearner sequential = SimulatedLearner.run(false, ITERATIONS, constant(10), PUSH, PULL);
        SimulatedLearner learner = SimulatedLearner.run(true, ITERATIONS, constant(10), PUSH, PULL);
        assertThat(learner.durationNs()).isEqualTo(sequential.durationNs());
    }

    @Test
    void abandonedComputationIsNotMeasured() {
        PullScheduler scheduler = SimulatedLearner.run(true, 100, COMPUTATION, PUSH, PULL).scheduler();
        double before = scheduler.forecast().computationMs();
        scheduler.computationBegins();
        scheduler.computationIsAbandoned();
        scheduler.computationEnds();
        assertThat(scheduler.forecast().computationMs()).isEqualTo(before);
    }

    @Test
    void sampleKeepsLessThanOnePercentOfItsWeightAfterTwoAndAHalfWindows() {
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
