package io.modeldisk.bench.mount;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.protocol.SessionMover;
import io.modeldisk.bench.report.LearnerTimes;
import io.modeldisk.bench.report.MountReport;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.ChildProcess;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.bench.shard.Ways;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.TargetAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Measures mounts with the exchange {@code direct}, in turn with files that move no data and with the protocol alone. The shard,
 * each mount and fio run in separate processes. Also measures the times of a learner ({@link LearnerBench}). An instance can run
 * only once.
 */
public final class MountBench {
    private static final double SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final double MOST_GROWTH = 100;
    private static final int BAR_CHARACTERS = 20;
    private static final long WARM_UP_RUN_MS = 500;
    private static final double WARM_UP_GROWTH = 1.1;

    private final String modeldisk;
    private final MountPlan plan;
    private final Consumer<String> progress;
    private final Ways ways;
    private final List<String> bindings = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private int done;

    /**
     * Creates a benchmark that measures a plan.
     *
     * @param modeldisk the path of the {@code modeldisk} command that starts the processes
     * @param progress the listener for progress messages
     */
    public MountBench(String modeldisk, MountPlan plan, Consumer<String> progress) {
        this.modeldisk = modeldisk;
        this.plan = plan;
        this.progress = progress;
        this.ways = Ways.of(plan.datamovers());
        notes.addAll(ways.notes("measured"));
        for (String binding : plan.bindings()) {
            String obstacle = FuseBinding.named(binding).unavailabilityCause();
            if (obstacle.isEmpty()) {
                bindings.add(binding);
            } else {
                notes.add(binding + " is not measured: " + obstacle);
            }
        }
    }

    /** One measured variant. */
    @FunctionalInterface
    private interface Run {
        /** Returns the throughput in bytes per second. */
        double run(Load load, long runMs) throws IOException;
    }

    /**
     * A measured variant with its name.
     *
     * @param binding empty for the protocol without a mount
     * @param datamover empty for a file that moves no data
     */
    private record Variant(String binding, String datamover, Run run) {}

    /**
     * Runs the benchmark.
     *
     * @throws IOException if fio is missing, a process does not start, or a request fails
     */
    public MountReport run() throws IOException {
        if (bindings.isEmpty()) {
            throw new IOException("this machine cannot mount: " + String.join("; ", notes));
        }
        List<MountReport.Rate> rates = plan.measuresRequests() ? measureRequests() : List.of();
        List<LearnerTimes> learner = plan.measuresLearner()
            ? LearnerBench.run(modeldisk, plan, bindings.getFirst(), ways.present(), progress)
            : List.of();
        progress.accept("");
        return new MountReport(plan.modelBytes(), bindings,
            ways.present().stream().map(Route.Preference::toString).toList(), rates, learner, notes);
    }

    private List<MountReport.Rate> measureRequests() throws IOException {
        if (!Processes.isInstalled("fio")) {
            throw new IOException("fio is missing; run: apt-get install fio");
        }
        List<MountReport.Rate> rates = new ArrayList<>();
        Path folder = Files.createTempDirectory("modeldisk-bench");
        try (Closing opened = new Closing()) {
            opened.add(() -> deleteFolders(folder));
            BenchShard shard = opened.add(
                BenchShard.start(modeldisk, "null", plan.modelBytes(), ways.address(), ways.serveOption()));
            List<Variant> variants = variants(opened, shard, folder);
            for (Variant variant : variants) {
                warmUp(variant);
            }
            for (int depth : plan.queueDepths()) {
                for (Direction direction : List.of(Direction.PUSH, Direction.PULL)) {
                    for (int bytes : plan.requestBytes()) {
                        rates.addAll(measure(variants, new Load(direction, bytes, depth, 1)));
                    }
                }
            }
        }
        return rates;
    }

    /**
     * Runs turns of writes and reads, of the smallest and of the largest size, until a turn is hardly faster than the turns
     * before. The compilers of the processes need several seconds.
     */
    private void warmUp(Variant variant) throws IOException {
        List<Load> loads = new ArrayList<>();
        for (int bytes : new TreeSet<>(
            List.of(Collections.min(plan.requestBytes()), Collections.max(plan.requestBytes())))) {
            for (Direction direction : List.of(Direction.PUSH, Direction.PULL)) {
                loads.add(new Load(direction, bytes, Collections.max(plan.queueDepths()), 1));
            }
        }
        double[] best = new double[loads.size()];
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(plan.warmUpMs());
        for (boolean grows = true; grows && System.nanoTime() - endNs < 0;) {
            grows = false;
            for (int i = 0; i < best.length; i++) {
                progress.accept("warming up");
                double rate = variant.run().run(loads.get(i), WARM_UP_RUN_MS);
                grows |= rate > best[i] * WARM_UP_GROWTH;
                best[i] = Math.max(best[i], rate);
            }
        }
    }

    private List<Variant> variants(Closing opened, BenchShard shard, Path folder) throws IOException {
        String model = "modeldisk://" + TargetAddress.text(shard.portal()) + "/" + shard.facts().model();
        int most = Collections.max(plan.requestBytes()) * Collections.max(plan.queueDepths());
        List<Variant> variants = new ArrayList<>();
        for (String binding : bindings) {
            Path empty = Files.createDirectory(folder.resolve(binding + "-null"));
            progress.accept("mounting: " + binding);
            opened.add(ChildProcess.start(modeldisk, "bench", "null-file", "--binding", binding, "--model-size",
                Long.toString(plan.modelBytes()), empty.toString()));
            variants.add(new Variant(binding, "", (load, runMs) -> fio(empty, load, runMs)));
            for (Route.Preference datamover : ways.present()) {
                Path directory = Files.createDirectory(folder.resolve(binding + "-" + datamover));
                opened.add(ChildProcess.start(modeldisk, "mount", "--foreground", "--exchange", "direct", "--binding",
                    binding, "--datamover", datamover.toString(), model, directory.toString()));
                variants.add(new Variant(binding, datamover.toString(), (load, runMs) -> fio(directory, load, runMs)));
            }
        }
        for (Route.Preference datamover : ways.present()) {
            SessionMover mover = opened.add(new SessionMover(shard.portal(), shard.over(datamover), shard.facts(), most,
                false, "-" + datamover));
            variants.add(new Variant("", datamover.toString(), (load, runMs) -> protocol(mover, load, runMs)));
        }
        return variants;
    }

    private double fio(Path directory, Load load, long runMs) throws IOException {
        return Fio.run(directory.resolve("model"), plan.modelBytes(), load, runMs);
    }

    /** Moves more and more requests until a run takes the wanted time. */
    private double protocol(SessionMover mover, Load load, long runMs) throws IOException {
        long runNs = TimeUnit.MILLISECONDS.toNanos(runMs);
        Load wanted = load.withRequests(load.queueDepth());
        long ns = mover.move(wanted);
        while (ns < runNs / 2) {
            wanted = wanted
                .withRequests(
                    (long) (wanted.requests() * Math.clamp((double) runNs / Math.max(1, ns), 2, MOST_GROWTH)));
            ns = mover.move(wanted);
        }
        return wanted.bytes() * SECOND_NS / ns;
    }

    /** Measures all variants in turn. Each round starts one variant later than the previous round. */
    private List<MountReport.Rate> measure(List<Variant> variants, Load load) throws IOException {
        double[][] found = new double[variants.size()][plan.rounds()];
        for (int round = 0; round < plan.rounds(); round++) {
            for (int i = 0; i < variants.size(); i++) {
                int turn = (i + round) % variants.size();
                progress.accept(PlainText.format("%s %s of %s, queue depth %d", bar(variants.size()),
                    load.direction() == Direction.PUSH ? "write" : "read", ByteSize.exact(load.requestBytes()),
                    load.queueDepth()));
                done++;
                found[turn][round] = variants.get(turn).run().run(load, plan.runMs());
            }
        }
        List<MountReport.Rate> rates = new ArrayList<>();
        for (int i = 0; i < variants.size(); i++) {
            rates.add(new MountReport.Rate(variants.get(i).binding(), variants.get(i).datamover(), load.direction(),
                load.queueDepth(), load.requestBytes(), Samples.of(found[i])));
        }
        return rates;
    }

    /** Returns the part of the measurements that are done, such as {@code [#####...............] 25 %}. */
    private String bar(int variants) {
        int all = variants * plan.rounds() * plan.requestBytes().size() * plan.queueDepths().size() * 2;
        int filled = BAR_CHARACTERS * done / all;
        return "[" + "#".repeat(filled) + ".".repeat(BAR_CHARACTERS - filled) + "] " + 100 * done / all + " %";
    }

    private static void deleteFolders(Path folder) throws IOException {
        try (Stream<Path> folders = Files.list(folder)) {
            for (Path each : folders.toList()) {
                Files.delete(each);
            }
        }
        Files.delete(folder);
    }
}
