package io.modeldisk.bench.training;

import io.modeldisk.bench.report.TrainingResult;
import io.modeldisk.bench.shard.ChildProcess;
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
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Measures the iterations of emulated learners with one exchange scheme after another. Each shard runs in a separate process. */
public final class TrainingBench {
    private static final String MODEL = "bench";
    private static final double MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final TrainingPlan plan;
    private final String modeldisk;
    private final Consumer<String> progress;

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
    }

    /** Measures every variant of the plan. Returns the results in the order of the variants. */
    public List<TrainingResult> run() throws IOException {
        if (plan.traces() != null) {
            Files.createDirectories(plan.traces());
        }
        List<TrainingResult> results = new ArrayList<>();
        for (Variant variant : plan.variants()) {
            results.add(measure(variant, variant.variantName()));
            if (plan.checkpointEvery() != null) {
                results.add(measureWithCheckpoints(variant));
            }
        }
        return results;
    }

    private TrainingResult measure(Variant variant, String name, String... options) throws IOException {
        progress.accept(name);
        try (Closing shards = new Closing()) {
            return measure(variant, name, serve(shards, options));
        }
    }

    private TrainingResult measureWithCheckpoints(Variant variant) throws IOException {
        Path state = Files.createTempDirectory("modeldisk-bench");
        try {
            return measure(variant, variant.variantName() + "+checkpoints", "--state", state.toString(),
                "--checkpoint-every", plan.checkpointEvery(), "--keep", "1");
        } finally {
            try (Stream<Path> files = Files.walk(state)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    /** Starts the shards at the same time, because shards with checkpoints wait for each other under bsp. */
    private List<InetSocketAddress> serve(Closing shards, String... options) throws IOException {
        return together(plan.shards(), i -> {
            List<String> command = new ArrayList<>(List.of("serve", "--model", MODEL, "--size",
                Long.toString(plan.modelBytes()), "--shard", i + "/" + plan.shards(), "--listen", "127.0.0.1:0",
                "--aggregator", plan.aggregator(), "--consistency", plan.consistency(), "--learners",
                Integer.toString(plan.learners())));
            command.addAll(List.of(options));
            ChildProcess shard = ChildProcess.start(modeldisk, command.toArray(String[]::new));
            synchronized (shards) {
                shards.add(shard);
            }
            return ModelAddress.parsePortal(shard.address(), 0);
        });
    }

    /** Starts one part of the benchmark, such as a shard. */
    private interface Part<T> {
        T start(int number) throws IOException;
    }

    /** Starts parts at the same time. Returns the results in the order of the numbers. */
    private static <T> List<T> together(int count, Part<T> part) throws IOException {
        try (ExecutorService threads = Executors.newFixedThreadPool(count)) {
            List<Future<T>> ends = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int number = i;
                ends.add(threads.submit(() -> part.start(number)));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> end : ends) {
                results.add(end.get());
            }
            return results;
        } catch (ExecutionException e) {
            throw new IOException("a shard could not be started: " + e.getCause().getMessage(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the start of the shards was interrupted", e);
        }
    }

    private TrainingResult measure(Variant variant, String name, List<InetSocketAddress> shards) throws IOException {
        try (Closing opened = new Closing()) {
            List<EmulatedLearner> learners = new ArrayList<>();
            for (int i = 0; i < plan.learners(); i++) {
                learners.add(learner(variant, "learner-" + (i + 1), shards, opened));
            }
            train(learners);
            if (plan.traces() != null) {
                leaveTraces(name, learners);
            }
            return result(variant, name, learners);
        }
    }

    private EmulatedLearner learner(Variant variant, String name, List<InetSocketAddress> shards, Closing opened)
        throws IOException {
        List<InetSocketAddress> portals = shards;
        if (plan.linkBytesPerSecond() > 0) {
            portals = opened.add(Link.open(shards, plan.linkBytesPerSecond())).portals();
        }
        StripedModel model = opened.add(
            StripedModel.connect(new StripedModelContext(new ModelAddress(portals, MODEL)).learner(name)));
        LearnerPath path = opened.add(plan.throughMount()
            ? MountPath.open(model, variant, name)
            : InitiatorPath.open(model, variant));
        return new EmulatedLearner(path, plan.computation(), plan.computeMs(), plan.warmUp(), plan.iterations());
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
