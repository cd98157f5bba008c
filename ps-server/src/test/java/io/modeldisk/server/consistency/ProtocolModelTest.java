package io.modeldisk.server.consistency;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.server.consistency.ProtocolModel.Step;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;
import net.jqwik.api.statistics.Statistics;

/**
 * Compares a shard with a simple reference model ({@link ProtocolModel}) in random sequences of pushes, pulls, departures and
 * joins. A failing sequence is reduced to the shortest sequence that still fails. Weights and waiting tasks are compared after
 * every step. At the end, every remaining learner must finish its rounds.
 */
class ProtocolModelTest {
    private static final int TRIES = 500;
    private static final int STEPS = 150;

    @Provide
    Arbitrary<List<Step>> interleavings() {
        Arbitrary<ProtocolModel.Action> actions = Arbitraries.frequencyOf(
            Tuple.of(12, Arbitraries.just(ProtocolModel.Action.PUSH)),
            Tuple.of(8, Arbitraries.just(ProtocolModel.Action.PULL)),
            Tuple.of(3, Arbitraries.just(ProtocolModel.Action.REPEAT)),
            Tuple.of(1, Arbitraries.just(ProtocolModel.Action.ABORT)),
            Tuple.of(1, Arbitraries.just(ProtocolModel.Action.RECONNECT)),
            Tuple.of(1, Arbitraries.of(ProtocolModel.Action.LEAVE, ProtocolModel.Action.EXPIRE,
                ProtocolModel.Action.JOIN_ANEW, ProtocolModel.Action.POSTPONE)));
        return Combinators.combine(Arbitraries.integers().between(0, ProtocolModel.LEARNERS - 1), actions,
            Arbitraries.integers().between(1, ProtocolModel.PAGES), Arbitraries.integers().between(-8, 8))
            .as(Step::new).list().ofMaxSize(STEPS).withSizeDistribution(RandomDistribution.uniform())
            .withoutEdgeCases();
    }

    private static void check(ProtocolModel.Mode mode, List<Step> steps) throws Exception {
        try (ProtocolModel model = new ProtocolModel(mode)) {
            for (Step step : steps) {
                model.perform(step);
                model.compare();
            }
            model.finish();
            assertThat(model.waiting()).as("waiting tasks after all learners have finished").isZero();
            Statistics.collect(model.hasWaited() ? "some task waited" : "no task waited");
        }
    }

    @Property(tries = TRIES)
    void aspBehavesLikeTheReferenceModel(@ForAll("interleavings") List<Step> steps) throws Exception {
        check(ProtocolModel.Mode.asp(), steps);
    }

    @Property(tries = TRIES)
    void sspWithStalenessZeroBehavesLikeTheReferenceModel(@ForAll("interleavings") List<Step> steps) throws Exception {
        check(ProtocolModel.Mode.ssp(0), steps);
    }

    @Property(tries = TRIES)
    void sspWithStalenessTwoBehavesLikeTheReferenceModel(@ForAll("interleavings") List<Step> steps) throws Exception {
        check(ProtocolModel.Mode.ssp(2), steps);
    }

    @Property(tries = TRIES)
    void bspBehavesLikeTheReferenceModel(@ForAll("interleavings") List<Step> steps) throws Exception {
        check(ProtocolModel.Mode.bsp(), steps);
    }
}
