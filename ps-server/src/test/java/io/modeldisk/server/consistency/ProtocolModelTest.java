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
 * The state machine of pushes, pulls, deaths and rejoins, beside its law in the plainest form ({@link ProtocolModel}): random
 * interleavings, which are shrunk to the shortest that breaks it. After every step the weights and the waiting tasks are
 * compared; at the end, every remaining learner finishes.
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
            assertThat(model.waiting()).as("tasks that wait when all have come to an end").isZero();
            Statistics.collect(model.hasWaited() ? "somebody waited" : "nobody waited");
        }
    }

    @Property(tries = TRIES)
    void asp(@ForAll("interleavings") List<Step> steps) throws Exception {
        check(ProtocolModel.Mode.asp(), steps);
    }

    @Property(tries = TRIES)
    void sspOfNoStaleness(@ForAll("interleavings") List<Step> steps) throws Exception {
        check(ProtocolModel.Mode.ssp(0), steps);
    }

    @Property(tries = TRIES)
    void sspOfTwoRounds(@ForAll("interleavings") List<Step> steps) throws Exception {
        check(ProtocolModel.Mode.ssp(2), steps);
    }

    @Property(tries = TRIES)
    void bsp(@ForAll("interleavings") List<Step> steps) throws Exception {
        check(ProtocolModel.Mode.bsp(), steps);
    }
}
