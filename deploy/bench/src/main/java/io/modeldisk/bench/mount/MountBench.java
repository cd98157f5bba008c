package io.modeldisk.bench.mount;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Progress;
import io.modeldisk.bench.load.Turns;
import io.modeldisk.bench.protocol.SessionMover;
import io.modeldisk.bench.report.Charts;
import io.modeldisk.bench.report.Report;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.report.Table;
import io.modeldisk.bench.report.Unit;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.ChildProcess;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.bench.shard.Datamovers;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Measures mounts with the exchange {@code direct}, in turn with files that move no data and with the protocol alone. The shard,
 * each mount and fio run in separate processes. An instance can run only once.
 */
public final class MountBench {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final double MOST_GROWTH = 100;
    private static final long WARM_UP_RUN_MS = 500;
    private static final long MODEL_BYTES = 512 << 20;
    /** The duration of a measurement. */
    private static final long RUN_MS = 1000;
    private static final double WARM_UP_GROWTH = 1.1;
    /** The longest warm-up of a variant. */
    private static final Duration WARM_UP = Duration.ofSeconds(12);
    /** The numbers of requests in flight. With 1, a thread sends one request at a time. */
    private static final List<Integer> QUEUE_DEPTHS = List.of(1, 8);
    private static final List<Direction> CALLS = List.of(Direction.PUSH, Direction.PULL);

    private final List<String> bindings = new ArrayList<>();
    private final Datamovers datamovers;
    private final List<Integer> requestBytes;
    private final int rounds;
    private final Report report = new Report("mount");

    /**
     * Creates a benchmark.
     *
     * @param wanted the names of the FUSE bindings
     * @param datamovers the datamovers between the mounts and the shard
     * @param requestBytes the sizes of the requests
     * @param rounds the number of measurements of each variant; the measurements alternate
     */
    public MountBench(List<String> wanted, Datamovers datamovers, List<Integer> requestBytes, int rounds) {
        this.datamovers = datamovers;
        this.requestBytes = requestBytes;
        this.rounds = rounds;
        datamovers.missing().forEach(report::note);
        for (String binding : wanted) {
            String obstacle = FuseBinding.named(binding).unavailabilityCause();
            if (obstacle.isEmpty()) {
                bindings.add(binding);
            } else {
                report.note(binding + " is not measured: " + obstacle);
            }
        }
    }

    /** One measured variant. */
    @FunctionalInterface
    private interface Run {
        /** Returns the throughput in GB/s. */
        double run(Load load, long runMs) throws IOException;
    }

    /**
     * Runs the benchmark.
     *
     * @throws IOException if fio is missing, a process does not start, or a request fails
     */
    public Report run() throws IOException {
        if (bindings.isEmpty()) {
            throw new IOException("no binding in --binding can mount on this machine:" + report.text());
        }
        if (!Processes.isInstalled("fio")) {
            throw new IOException("fio is missing; run: apt-get install fio");
        }
        Table table = report.fact("modelBytes", MODEL_BYTES).table("requests", PlainText.format("""
            A file of %s. file: a file of the same binding that moves no data. NAME: a mount over this datamover.
            NAME / series: NAME divided by 1 / (1 / file + 1 / protocol NAME), because each byte passes both.\
            """, ByteSize.format(MODEL_BYTES)), "binding", "call", "in flight", "size");
        try (Closing opened = new Closing()) {
            Path folder = opened.folder();
            BenchShard shard = opened.add(BenchShard.start(Durability.MEMORY, "null", MODEL_BYTES, datamovers, 0));
            Map<String, Map<String, Run>> variants = variants(opened, shard, folder);
            for (Map<String, Run> ofBinding : variants.values()) {
                for (Run variant : ofBinding.values()) {
                    warmUp(variant);
                }
            }
            for (String binding : bindings) {
                for (Direction direction : CALLS) {
                    for (int depth : QUEUE_DEPTHS) {
                        for (int bytes : requestBytes) {
                            Load load = new Load(direction, bytes, depth, 1);
                            addFigures(table.row(binding, call(load), depth, new ByteSize(bytes)),
                                measure(variants.get(binding), load));
                        }
                    }
                }
            }
        }
        report.charts(Charts.lines(table, "size", table.columns(Unit.GIGABYTES_PER_SECOND)));
        return report;
    }

    private void addFigures(Table.Row row, Map<String, Samples> found) {
        found.forEach((name, samples) -> row.put(name, Unit.GIGABYTES_PER_SECOND, samples));
        for (Route.Preference datamover : datamovers.present()) {
            row.ratio(datamover.toString(), "file");
            double[] series = found.get("file").values();
            double[] protocol = found.get("protocol " + datamover).values();
            Arrays.setAll(series, i -> 1 / (1 / series[i] + 1 / protocol[i]));
            row.put(datamover + " / series", Unit.RATIO, row.figure(datamover.toString()).over(new Samples(series)));
        }
    }

    /** The system call of a load, seen from the process that uses the mount. */
    private static String call(Load load) {
        return load.direction() == Direction.PUSH ? "write" : "read";
    }

    /**
     * Runs writes and reads of the smallest and of the largest size in turns, until a turn is hardly faster than the previous
     * turns. The JIT compilers of the processes need several seconds.
     */
    private void warmUp(Run variant) throws IOException {
        List<Load> loads = new ArrayList<>();
        for (int bytes : new TreeSet<>(
            List.of(Collections.min(requestBytes), Collections.max(requestBytes)))) {
            CALLS.forEach(direction -> loads.add(new Load(direction, bytes, QUEUE_DEPTHS.getLast(), 1)));
        }
        double[] best = new double[loads.size()];
        long endNs = System.nanoTime() + WARM_UP.toNanos();
        for (boolean grows = true; grows && System.nanoTime() - endNs < 0;) {
            grows = false;
            for (int i = 0; i < best.length; i++) {
                Progress.show("warming up");
                double rate = variant.run(loads.get(i), WARM_UP_RUN_MS);
                grows |= rate > best[i] * WARM_UP_GROWTH;
                best[i] = Math.max(best[i], rate);
            }
        }
    }

    /** Returns the variants of each binding: the file that moves no data, the mounts, and the protocol. */
    private Map<String, Map<String, Run>> variants(Closing opened, BenchShard shard, Path folder) throws IOException {
        int most = Collections.max(requestBytes) * QUEUE_DEPTHS.getLast();
        Map<String, Run> protocol = new LinkedHashMap<>();
        for (Route.Preference datamover : datamovers.present()) {
            SessionMover mover = opened.add(new SessionMover(shard, datamover, most, 0, false, "-" + datamover));
            protocol.put("protocol " + datamover, (load, runMs) -> protocol(mover, load, runMs));
        }
        Map<String, Map<String, Run>> variants = new LinkedHashMap<>();
        for (String binding : bindings) {
            Map<String, Run> ofBinding = variants.computeIfAbsent(binding, _ -> new LinkedHashMap<>());
            Path empty = Files.createDirectory(folder.resolve(binding + "-file"));
            Progress.show("mounting: " + binding);
            opened.add(ChildProcess.start("bench", "null-file", empty.toString(), binding,
                Long.toString(MODEL_BYTES)));
            ofBinding.put("file", (load, runMs) -> fio(empty, load, runMs));
            for (Route.Preference datamover : datamovers.present()) {
                Path directory = Files.createDirectory(folder.resolve(binding + "-" + datamover));
                opened.add(ChildProcess.start("mount", "--foreground", "--exchange", "direct", "--binding", binding,
                    "--datamover", datamover.toString(), shard.address(), directory.toString()));
                ofBinding.put(datamover.toString(), (load, runMs) -> fio(directory, load, runMs));
            }
            ofBinding.putAll(protocol);
        }
        return variants;
    }

    /**
     * Runs fio on the file of a mount, without the page cache. With a queue depth of 1, one thread calls pread(2) or pwrite(2).
     * With a larger depth, the requests are asynchronous (libaio).
     */
    private static double fio(Path directory, Load load, long runMs) throws IOException {
        String output = ChildProcess.run("fio", "--name=bench", "--filename=" + directory.resolve("model"),
            "--size=" + MODEL_BYTES, "--direct=1",
            "--ioengine=" + (load.queueDepth() == 1 ? "psync" : "libaio"), "--iodepth=" + load.queueDepth(),
            "--bs=" + load.requestBytes(), "--rw=" + call(load), "--time_based", "--runtime=" + runMs + "ms",
            "--zero_buffers=1", "--allow_file_create=0", "--overwrite=1", "--output-format=json");
        // fio sometimes prints warnings before the JSON document.
        JsonNode result = JSON.readTree(output.substring(output.indexOf('{')));
        return result.at("/jobs/0/" + call(load) + "/bw_bytes").asDouble() / SECOND_NS;
    }

    /** Moves more and more requests until a run takes the wanted time. */
    private static double protocol(SessionMover mover, Load load, long runMs) throws IOException {
        long runNs = TimeUnit.MILLISECONDS.toNanos(runMs);
        Load wanted = load.withRequests(load.queueDepth());
        long ns = mover.move(wanted);
        while (ns < runNs / 2) {
            double growth = Math.clamp((double) runNs / Math.max(1, ns), 2, MOST_GROWTH);
            wanted = wanted.withRequests((long) (wanted.requests() * growth));
            ns = mover.move(wanted);
        }
        return (double) wanted.bytes() / ns;
    }

    private Map<String, Samples> measure(Map<String, Run> variants, Load load) throws IOException {
        Map<String, Turns.Once<Double>> runs = new LinkedHashMap<>();
        variants.forEach((name, variant) -> runs.put(name, () -> {
            Progress.show(PlainText.format("%s: %s of %s, queue depth %d", name, call(load),
                ByteSize.exact(load.requestBytes()), load.queueDepth()));
            return variant.run(load, RUN_MS);
        }));
        Map<String, Samples> samples = new LinkedHashMap<>();
        Turns.repeat(rounds, runs).forEach((name, found) -> samples.put(name,
            new Samples(found.stream().mapToDouble(Double::doubleValue).toArray())));
        return samples;
    }
}
