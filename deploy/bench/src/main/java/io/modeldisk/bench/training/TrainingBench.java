package io.modeldisk.bench.training;

import io.modeldisk.bench.report.TrainingResult;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.bench.shard.ShardProcesses;
import io.modeldisk.bench.shard.Ways;
import io.modeldisk.mount.ModelMount;
import io.modeldisk.mount.MountContext;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.mount.trace.TraceEvents;
import io.modeldisk.protocol.striping.ModelAddress;
import io.modeldisk.protocol.striping.StripedModel;
import io.modeldisk.protocol.striping.StripedModelContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Measures the iterations of emulated learners with one exchange scheme after another. Each shard runs in a separate process. */
public final class TrainingBench {
    private static final String MODEL = "bench";
    private static final double MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final TrainingPlan plan;
    private final String modeldisk;
    private final Consumer<String> progress;
    private final Ways ways;

    /**
     * Creates a benchmark that measures a plan.
     *
     * @param modeldisk the path of the {@code modeldisk} command that starts the shards
     * @param progress the listener for progress messages
     */
    public TrainingBench(TrainingPlan plan, String modeldisk, Consumer<String> progress) {
        this.plan = plan;
        this.modeldisk = modeldisk;
        this.progress = progress;
        this.ways = Ways.of(List.of(plan.datamover()));
    }

    /**
     * Measures every variant of the plan with every durability and every number of followers, in alternation. Returns the results
     * of each repetition.
     */
    public List<List<TrainingResult>> run() throws IOException {
        for (String cause : ways.missing().values()) {
            throw new IOException("the datamover " + plan.datamover() + " is unavailable: " + cause);
        }
        if (plan.traces() != null) {
            Files.createDirectories(plan.traces());
        }
        List<List<TrainingResult>> rounds = new ArrayList<>();
        for (int i = 0; i < plan.repeat(); i++) {
            List<TrainingResult> round = new ArrayList<>();
            for (Variant variant : plan.variants()) {
                for (Through through : plan.throughs()) {
                    for (Durability durability : plan.durabilities()) {
                        for (int followers : plan.followers()) {
                            round.add(measure(variant, through, durability, followers));
                        }
                    }
                }
            }
            rounds.add(round);
        }
        return rounds;
    }

    /**
     * For the name of each result with followers or with a durability: the name of the same result without followers, or else
     * without durability, if the plan has both.
     */
    public Map<String, String> without() {
        Map<String, String> names = new HashMap<>();
        for (Variant variant : plan.variants()) {
            for (Through through : plan.throughs()) {
                for (Durability durability : plan.durabilities()) {
                    for (int followers : plan.followers()) {
                        String name = name(variant, through, durability, followers);
                        if (followers > 0 && plan.followers().contains(0)) {
                            names.put(name, name(variant, through, durability, 0));
                        } else if (durability != Durability.MEMORY && plan.durabilities().contains(Durability.MEMORY)) {
                            names.put(name, name(variant, through, Durability.MEMORY, followers));
                        }
                    }
                }
            }
        }
        return names;
    }

    /** The name of a result. Contains the way to the model only if the plan has several. */
    private String name(Variant variant, Through through, Durability durability, int followers) {
        return durability.label(variant.variantName() + (plan.throughs().size() > 1 ? ", " + through : ""))
            + (followers == 0 ? "" : ", " + followers + (followers == 1 ? " follower" : " followers"));
    }

    private TrainingResult measure(Variant variant, Through through, Durability durability, int followers)
        throws IOException {
        String name = name(variant, through, durability, followers);
        progress.accept(name);
        List<String> options = new ArrayList<>(List.of("--model", MODEL, "--size", Long.toString(plan.modelBytes()),
            "--aggregator", plan.aggregator(), "--consistency", plan.consistency(), "--learners",
            Integer.toString(plan.learners())));
        options.addAll(BenchShard.listening(ways.address(), ways.serveOption()));
        try (ShardProcesses shards = ShardProcesses.start(modeldisk, durability, plan.checkpointEvery(), plan.shards(),
            options)) {
            return measure(variant, through, name, shards.portals(), followers);
        }
    }

    private TrainingResult measure(Variant variant, Through through, String name, List<InetSocketAddress> shards,
        int followers) throws IOException {
        try (Closing opened = new Closing()) {
            List<EmulatedLearner> learners = new ArrayList<>();
            for (int i = 0; i < plan.learners(); i++) {
                learners.add(learner(variant, through, "learner-" + (i + 1), shards, opened));
            }
            for (int i = 0; i < followers; i++) {
                follow("follower-" + (i + 1), shards, opened);
            }
            train(learners);
            if (plan.traces() != null) {
                leaveTraces(name, learners);
            }
            return result(variant, name, learners);
        }
    }

    private EmulatedLearner learner(Variant variant, Through through, String name, List<InetSocketAddress> shards,
        Closing opened) throws IOException {
        List<InetSocketAddress> portals = shards;
        if (plan.linkBytesPerSecond() > 0) {
            portals = opened.add(Link.open(shards, plan.linkBytesPerSecond())).portals();
        }
        StripedModel model = opened.add(
            StripedModel.connect(new StripedModelContext(new ModelAddress(portals, MODEL)).learner(name)
                .datamover(plan.datamover())));
        LearnerPath path = opened.add(switch (through) {
            case INITIATOR -> InitiatorPath.open(model, variant);
            case MOUNT -> new MountPath(mount(model, variant, opened), model.facts().sizeBytes(),
                variant.exchange() == ExchangeScheme.DIRECT);
            case MAPPED -> new MappedPath(mount(model, variant, opened));
        });
        return new EmulatedLearner(path, plan.computation(), plan.computeMs(), plan.warmUp(), plan.iterations());
    }

    private void follow(String name, List<InetSocketAddress> shards, Closing opened) throws IOException {
        StripedModel model = opened.add(
            StripedModel.connect(new StripedModelContext(new ModelAddress(shards, MODEL)).learner(name).follower(true)
                .datamover(plan.datamover())));
        opened.add(Follower.start(model, plan.followerPeriodMs()));
    }

    private ModelMount mount(StripedModel model, Variant variant, Closing opened)
        throws IOException {
        Path directory = Files.createTempDirectory("modeldisk-bench");
        opened.add(() -> Files.delete(directory));
        return opened.add(ModelMount.launch(new MountContext().directory(directory).remoteModel(model)
            .binding(FuseBinding.named(plan.binding())).exchange(variant.exchange()).pull(variant.pull())));
    }

    private static void train(List<EmulatedLearner> learners) throws IOException {
        CyclicBarrier start = new CyclicBarrier(learners.size());
        try (ExecutorService threads = Executors.newFixedThreadPool(learners.size())) {
            List<Future<?>> ends = new ArrayList<>();
            for (EmulatedLearner learner : learners) {
                ends.add(threads.submit(() -> {
                    start.await();
                    learner.train();
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof BrokenBarrierException || !(e.getCause() instanceof IOException)) {
                throw new IllegalStateException("an emulated learner failed", e.getCause());
            }
            throw new IOException("an emulated learner failed: " + e.getCause().getMessage(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait for the learners was interrupted", e);
        }
    }

    private void leaveTraces(String name, List<EmulatedLearner> learners) throws IOException {
        for (int i = 0; i < learners.size(); i++) {
            TraceEvents events = new TraceEvents(learners.get(i).path().trace(), "learner " + (i + 1), plan.model(),
                name);
            String file = name.replace(':', '-') + "-" + (i + 1) + ".json";
            Files.write(plan.traces().resolve(file), events.toJson());
        }
    }

    private TrainingResult result(Variant variant, String name, List<EmulatedLearner> learners) {
        List<Phases> phases = learners.stream()
            .map(learner -> new Phases(learner.path().trace(), variant.exchange(), plan.warmUp() + 1L)).toList();
        double lacked = 0;
        for (Phases mine : phases) {
            for (Phases other : phases) {
                lacked += mine == other ? 0 : mine.meanLackedPushes(other);
            }
        }
        double count = learners.size();
        double iterations = count * plan.iterations();
        long[] all = learners.stream().flatMapToLong(learner -> Arrays.stream(learner.iterationNs())).sorted()
            .toArray();
        return new TrainingResult(name,
            Arrays.stream(all).average().orElseThrow() / MS,
            all[all.length / 2] / MS,
            all[(int) (all.length * 0.95)] / MS,
            learners.stream().mapToLong(EmulatedLearner::computeNs).sum() / iterations / MS,
            learners.stream().mapToLong(EmulatedLearner::fileNs).sum() / iterations / MS,
            learners.stream().mapToLong(EmulatedLearner::fsyncNs).sum() / iterations / MS,
            phases.stream().mapToDouble(phase -> phase.meanNs(Phase.PUSH)).sum() / count / MS,
            phases.stream().mapToDouble(phase -> phase.meanNsOfAll(Phase.BUBBLE)).sum() / count / MS,
            phases.stream().mapToDouble(phase -> phase.meanNs(Phase.PULL)).sum() / count / MS,
            phases.stream().mapToDouble(Phases::meanAgeNs).sum() / count / MS,
            // The first division gives the mean number of pushes that a learner misses. The second division converts pushes to
            // rounds, because a round consists of one push of each learner.
            lacked / count / count,
            plan.learners());
    }
}
