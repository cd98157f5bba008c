package io.modeldisk.bench.mount;

import io.modeldisk.bench.report.LearnerTimes;
import io.modeldisk.bench.report.TrainingResult;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.bench.training.Computation;
import io.modeldisk.bench.training.Through;
import io.modeldisk.bench.training.TrainingBench;
import io.modeldisk.bench.training.TrainingPlan;
import io.modeldisk.bench.training.Variant;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.initiator.Route;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures the time that a learner needs for its weights and its gradient with each exchange scheme over each datamover: with
 * read and write, and with mapped buffers.
 */
final class LearnerBench {
    // About the time of an exchange of 512 MB, so that overlap has a computation beside which it can exchange.
    private static final double COMPUTE_MS = 200;
    private static final int WARM_UP = 4;
    private static final int ITERATIONS = 6;
    private static final String NO_CHECKPOINTS = "24h";

    private LearnerBench() {}

    /**
     * Measures each scheme in turn.
     *
     * @param modeldisk the path of the {@code modeldisk} command that starts the shards
     * @param binding the name of the FUSE binding
     * @throws IOException if a shard or a mount does not start, or an iteration fails
     */
    static List<LearnerTimes> run(
        String modeldisk, MountPlan plan, String binding, List<Route.Preference> datamovers,
        Consumer<String> progress) throws IOException {
        List<TrainingPlan> plans = new ArrayList<>();
        for (Route.Preference datamover : datamovers) {
            for (ExchangeScheme scheme : ExchangeScheme.values()) {
                for (Through through : List.of(Through.MOUNT, Through.MAPPED)) {
                    if (scheme != ExchangeScheme.DIRECT || through == Through.MOUNT) {
                        plans.add(
                            plan(plan.modelBytes(), Variant.parse(scheme.schemeName()), through, binding, datamover));
                    }
                }
            }
        }
        List<List<TrainingResult>> found = new ArrayList<>();
        plans.forEach(_ -> found.add(new ArrayList<>()));
        for (int round = 0; round < plan.rounds(); round++) {
            for (int i = 0; i < plans.size(); i++) {
                progress.accept(PlainText.format("%d of %d: %s over %s, through %s", round * plans.size() + i + 1,
                    plan.rounds() * plans.size(), scheme(plans.get(i)), plans.get(i).datamover(),
                    through(plans.get(i))));
                found.get(i).add(new TrainingBench(plans.get(i), modeldisk, _ -> {}).run().getFirst().getFirst());
            }
        }
        List<LearnerTimes> times = new ArrayList<>();
        for (int i = 0; i < plans.size(); i++) {
            times.add(LearnerTimes.of(scheme(plans.get(i)), plans.get(i).datamover().toString(), through(plans.get(i)),
                found.get(i)));
        }
        return times;
    }

    private static TrainingPlan plan(
        long modelBytes, Variant scheme, Through through, String binding, Route.Preference datamover) {
        return new TrainingPlan("custom", modelBytes, COMPUTE_MS, Computation.SLEEP, 1, 1, List.of(scheme), ITERATIONS,
            WARM_UP, List.of(through), binding, datamover, "asp", "sgd:lr=0.1", 0, null, List.of(Durability.MEMORY),
            List.of(0), 0, NO_CHECKPOINTS, 1);
    }

    private static String scheme(TrainingPlan plan) {
        return plan.variants().getFirst().exchange().schemeName();
    }

    private static String through(TrainingPlan plan) {
        return plan.throughs().getFirst().toString();
    }
}
