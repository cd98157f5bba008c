package io.modeldisk.bench.training;

import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.bench.load.Progress;
import io.modeldisk.bench.report.Charts;
import io.modeldisk.bench.report.Report;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.report.Table;
import io.modeldisk.bench.report.Unit;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.bench.shard.Datamovers;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.bench.shard.ShardProcesses;
import io.modeldisk.bench.trace.Timeline;
import io.modeldisk.bench.training.TrainingPlan.Case;
import io.modeldisk.mount.ModelMount;
import io.modeldisk.mount.MountContext;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.mount.trace.TraceEvents;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.knowm.xchart.XYChart;

/** Measures the iterations of emulated learners, one case after another. Each shard runs in a separate process. */
public final class TrainingBench {
    private static final String MODEL = "bench";
    private static final String AGGREGATOR = "sgd:lr=0.1";
    private static final String CHECKPOINT_EVERY = "30s";
    private static final double MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final String ITERATION = "iteration";
    private static final String COMPUTE = "compute";
    private static final String FILE = "read and write";
    private static final String FSYNC = "fsync";
    private static final String PUSH = "push";
    private static final String PULL = "pull";

    private final TrainingPlan plan;
    private final Report report = new Report("training");

    /** Creates a benchmark that measures a plan. */
    public TrainingBench(TrainingPlan plan) {
        this.plan = plan;
    }

    /**
     * Measures each case of the plan once in each round. The charts show the parts of an iteration, and a timeline of the last
     * iterations of each case.
     */
    public Report run() throws IOException {
        if (!plan.datamovers().missing().isEmpty()) {
            throw new IOException(String.join("; ", plan.datamovers().missing()));
        }
        List<Case> cases = plan.cases();
        Map<Case, List<Map<String, Double>>> found = new LinkedHashMap<>();
        cases.forEach(each -> found.put(each, new ArrayList<>()));
        Map<Case, XYChart> timelines = new LinkedHashMap<>();
        for (int round = 0; round < plan.rounds(); round++) {
            for (Case each : cases) {
                Progress.show(PlainText.format("%d of %d: %s", round * cases.size() + cases.indexOf(each) + 1,
                    plan.rounds() * cases.size(), name(each)));
                found.get(each).add(measure(each, timelines));
            }
        }
        Table table = table(found);
        report.charts(List.of(Charts.bars(table, setting(), COMPUTE, FILE, FSYNC)));
        report.charts(List.copyOf(timelines.values()));
        return report;
    }

    private String setting() {
        return PlainText.format("%s, %.2f MB, %.2f ms of computation; learners: %d, shards: %d, %s%s",
            plan.model().name(), plan.model().bytes() / 1e6, plan.model().computeMs().orElseThrow(), plan.learners(),
            plan.shards(), plan.consistency(),
            plan.linkBytesPerSecond() == 0
                ? ""
                : PlainText.format(", links of %.0f MB/s in each direction", plan.linkBytesPerSecond() / 1e6));
    }

    /**
     * Returns the values that distinguish a case from the other cases of the plan, by the names of their columns in the table.
     */
    private Map<String, Object> keys(Case each) {
        Map<String, Object> keys = new LinkedHashMap<>();
        keys.put("exchange", each.variant().variantName());
        if (plan.accesses().size() > 1) {
            keys.put("through", each.access());
        }
        if (plan.datamovers().present().size() > 1) {
            keys.put("over", each.datamover());
        }
        if (plan.durabilities().size() > 1) {
            keys.put("durability", each.durability());
        }
        if (plan.followers().size() > 1) {
            keys.put("followers", each.followers());
        }
        return keys;
    }

    private String name(Case each) {
        return keys(each).values().stream().map(Object::toString).collect(Collectors.joining(", "));
    }

    private Table table(Map<Case, List<Map<String, Double>>> found) {
        Table table = report.fact("setting", setting()).fact("modelBytes", plan.model().bytes())
            .table("results", setting() + """

                Mean times of an iteration, and its 95th percentile. age: the age of the weights when the computation begins.
                x longest: the iteration divided by the longest of the computation, and of push and pull with direct.
                x without: the iteration divided by the iteration without followers, or with durability memory.\
                """, keys(plan.cases().getFirst()).keySet().toArray(String[]::new));
        found.forEach((each, rounds) -> {
            Table.Row row = table.row(keys(each).values().toArray());
            for (String column : rounds.getFirst().keySet()) {
                row.put(column, Unit.MILLISECONDS, samples(rounds, column));
            }
            Samples iteration = row.figure(ITERATION);
            row.put("x compute", Unit.NUMBER, iteration.over(row.figure(COMPUTE)));
            List<Map<String, Double>> direct = found.get(new Case(Variant.parse("direct"), each.access(),
                each.datamover(), each.durability(), each.followers()));
            if (direct != null) {
                row.put("x longest", Unit.NUMBER, iteration.over(longest(row.figure(COMPUTE), direct)));
            }
            Case without = without(each);
            if (!without.equals(each) && found.containsKey(without)) {
                row.put("x without", Unit.RATIO, iteration.over(samples(found.get(without), ITERATION)));
            }
        });
        return table;
    }

    private static Samples samples(List<Map<String, Double>> rounds, String column) {
        return new Samples(rounds.stream().mapToDouble(round -> round.get(column)).toArray());
    }

    private static Samples longest(Samples compute, List<Map<String, Double>> direct) {
        double[] longest = compute.values();
        Arrays.setAll(longest,
            i -> Math.max(longest[i], Math.max(direct.get(i).get(PUSH), direct.get(i).get(PULL))));
        return new Samples(longest);
    }

    /**
     * Returns the case with which a case is compared: if it has followers, the same case without them; otherwise the same case
     * with durability memory.
     */
    private Case without(Case each) {
        boolean follows = each.followers().count() > 0;
        return new Case(each.variant(), each.access(), each.datamover(),
            follows ? each.durability() : Durability.MEMORY, new Followers(0, true));
    }

    private Map<String, Double> measure(Case each, Map<Case, XYChart> timelines) throws IOException {
        Datamovers datamover = Datamovers.named(List.of(each.datamover().toString()));
        List<String> options = new ArrayList<>(List.of("--model", MODEL, "--size",
            Long.toString(plan.model().bytes()), "--aggregator", AGGREGATOR, "--consistency", plan.consistency(),
            "--learners", Integer.toString(plan.learners())));
        options.addAll(BenchShard.listening(datamover));
        try (
            ShardProcesses shards = ShardProcesses.start(each.durability(), CHECKPOINT_EVERY, plan.shards(), options);
            Closing opened = new Closing()) {
            List<EmulatedLearner> learners = new ArrayList<>();
            for (int i = 0; i < plan.learners(); i++) {
                learners.add(learner(each, "learner-" + (i + 1), shards.portals(), opened));
            }
            for (int i = 0; i < each.followers().count(); i++) {
                StripedModel model = opened.add(StripedModel.connect(
                    new StripedModelContext(new ModelAddress(shards.portals(), MODEL)).learner("follower-" + (i + 1))
                        .follower(true).datamover(each.datamover())));
                opened.add(new Follower(model, each.followers().reads()));
            }
            List<EmulatedLearner.Times> times = train(learners);
            timelines.put(each, timeline(each, learners));
            return times(each.variant(), learners, times);
        }
    }

    private EmulatedLearner learner(Case each, String name, List<InetSocketAddress> shards, Closing opened)
        throws IOException {
        List<InetSocketAddress> portals = shards;
        if (plan.linkBytesPerSecond() > 0) {
            portals = opened.add(Link.open(shards, plan.linkBytesPerSecond())).portals();
        }
        StripedModel model = opened.add(
            StripedModel.connect(new StripedModelContext(new ModelAddress(portals, MODEL)).learner(name)
                .datamover(each.datamover())));
        Variant variant = each.variant();
        ModelMount mount = mount(model, variant, name, opened);
        LearnerPath path = opened.add(switch (each.access()) {
            case MOUNT -> new MountPath(mount, model.facts().sizeBytes(), variant.exchange() == ExchangeScheme.DIRECT);
            case MAPPED -> new MappedPath(mount);
        });
        return new EmulatedLearner(path, mount.trace(), plan.model().computeMs().orElseThrow(), plan.warmUp(),
            plan.iterations());
    }

    private static ModelMount mount(StripedModel model, Variant variant, String learner, Closing opened)
        throws IOException {
        return opened.add(ModelMount.launch(new MountContext().directory(opened.folder()).remoteModel(model)
            .binding(FuseBinding.named(FuseBinding.DEFAULT)).exchange(variant.exchange()).pull(variant.pull())));
    }

    /** Starts all learners at the same time, and waits until all of them have ended. */
    private static List<EmulatedLearner.Times> train(List<EmulatedLearner> learners) throws IOException {
        CyclicBarrier start = new CyclicBarrier(learners.size());
        List<Callable<EmulatedLearner.Times>> tasks = new ArrayList<>();
        for (EmulatedLearner learner : learners) {
            tasks.add(() -> {
                start.await();
                return learner.train();
            });
        }
        return ClosedLoop.together(tasks);
    }

    private XYChart timeline(Case each, List<EmulatedLearner> learners) throws IOException {
        Timeline timeline = new Timeline();
        for (int i = 0; i < learners.size(); i++) {
            timeline.add("the trace", new TraceEvents(learners.get(i).trace(), "learner " + (i + 1),
                plan.model().name(), name(each)).toJson());
        }
        return timeline.chart();
    }

    /** Returns the times of an iteration in milliseconds, as means over all iterations of all learners. */
    private Map<String, Double> times(
        Variant variant, List<EmulatedLearner> learners, List<EmulatedLearner.Times> measured) {
        List<Phases> phases = learners.stream()
            .map(learner -> new Phases(learner.trace(), variant.exchange(), plan.warmUp() + 1L)).toList();
        long[] all = measured.stream().flatMapToLong(each -> Arrays.stream(each.iterationNs())).sorted().toArray();
        Map<String, Double> times = new LinkedHashMap<>();
        times.put(ITERATION, Arrays.stream(all).average().orElseThrow() / MS);
        times.put("95 %", all[(int) (all.length * 0.95)] / MS);
        times.put(COMPUTE, sum(measured, EmulatedLearner.Times::computeNs) / all.length / MS);
        times.put(FILE, sum(measured, EmulatedLearner.Times::fileNs) / all.length / MS);
        times.put(FSYNC, sum(measured, EmulatedLearner.Times::fsyncNs) / all.length / MS);
        times.put(PUSH, mean(phases, phase -> phase.meanNs(Phase.PUSH)) / MS);
        times.put(PULL, mean(phases, phase -> phase.meanNs(Phase.PULL)) / MS);
        times.put("age", mean(phases, Phases::meanAgeNs) / MS);
        return times;
    }

    private static double sum(List<EmulatedLearner.Times> all, ToDoubleFunction<EmulatedLearner.Times> figure) {
        return all.stream().mapToDouble(figure).sum();
    }

    private static double mean(List<Phases> all, ToDoubleFunction<Phases> figure) {
        return all.stream().mapToDouble(figure).average().orElseThrow();
    }
}
