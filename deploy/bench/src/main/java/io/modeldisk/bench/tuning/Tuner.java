package io.modeldisk.bench.tuning;

import io.modeldisk.bench.load.Measured;
import io.modeldisk.bench.load.Progress;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.bench.load.Turns;
import io.modeldisk.bench.report.Report;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.report.Table;
import io.modeldisk.bench.report.Unit;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import io.modeldisk.tuning.Tuning;
import java.io.IOException;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;

/**
 * Finds the best transfer sizes of a datamover on this machine. For each candidate, the tuner pushes and pulls a whole model,
 * as a mount does. The measurements of the candidates alternate. Request sizes are measured with the built-in queue depth.
 * Queue depths are measured with the best request size. The eager threshold is the largest size of a push whose data is sent
 * with the command. This threshold is measured with one push at a time, since the threshold affects latency.
 */
public final class Tuner {
    private static final List<Integer> REQUESTS = List.of(256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20);
    private static final List<Integer> DEPTHS = List.of(2, 4, 8, 16, 32);
    private static final List<Integer> PUSHES = List.of(4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10,
        256 << 10);
    /** The maximum size of the data segment of an iSER message. */
    private static final int ISER_MESSAGE_BYTES = 8 << 10;
    private static final int PUSHES_A_ROUND = 64;
    /** A candidate must be faster than the built-in size by this factor. A smaller gain might be noise. */
    private static final double LEAST_GAIN = 1.05;
    private static final String EAGER = "sent with the command";
    private static final String FETCHED = "fetched by the shard";

    private final BenchShard shard;
    private final Turns turns;
    private final long bytes;
    private final Report report = new Report("tune");
    private final Table throughput = report.table("throughput", "Throughput of pushes and pulls of the whole model",
        "datamover", "size", "value");
    private final Table latency = report.table("latency", "Median latency of one push at a time", "datamover", "push");
    private int learners;

    /**
     * Creates a tuner that uses a shard with the aggregator null.
     *
     * @param rounds the number of runs of each candidate
     */
    public Tuner(BenchShard shard, int rounds) {
        this.shard = shard;
        // With the duration 0, a run is only one exchange of the model, or one series of pushes.
        this.turns = new Turns(rounds, 0);
        this.bytes = shard.facts().bytesOfShard();
    }

    /** The measurements so far. */
    public Report report() {
        return report;
    }

    /** Finds the best transfer sizes for a datamover. */
    public TransferSizes tune(Route.Preference datamover) throws IOException {
        TransferSizes sizes = TransferSizes.DEFAULTS;
        sizes = sizes.withRequestBytes(
            fastest(datamover, "request size", REQUESTS, sizes.requestBytes(), sizes::withRequestBytes, ByteSize::new));
        sizes = sizes.withQueueDepth(
            fastest(datamover, "requests in flight", DEPTHS, sizes.queueDepth(), sizes::withQueueDepth,
                depth -> depth));
        String eager = "";
        if (Tuning.sendsEagerly(datamover.toString())) {
            sizes = sizes.withEagerBytes(eagerBytes(datamover));
            eager = ", data of writes up to " + ByteSize.exact(sizes.eagerBytes()) + " is sent with the command";
        }
        report.note(datamover + ": requests of " + ByteSize.exact(sizes.requestBytes()) + ", " + sizes.queueDepth()
            + " in flight" + eager);
        return sizes;
    }

    /** A measurement over a connection to the shard. */
    @FunctionalInterface
    private interface Exchange {
        Measured run(StripedModel model, DataMemory memory) throws IOException;
    }

    private Turns.Run connect(Closing opened, Route.Preference datamover, TransferSizes sizes, Exchange exchange)
        throws IOException {
        learners++;
        StripedModel model = StripedModel.connect(
            new StripedModelContext(new ModelAddress(List.of(shard.portal()), shard.facts().model()))
                .learner("tune-" + ProcessHandle.current().pid() + "-" + learners).datamover(datamover)
                .sizes(_ -> sizes));
        try {
            DataMemory memory = opened.add(model.allocate(bytes));
            return _ -> exchange.run(model, memory);
        } finally {
            // The model is added after the memory, so the model is closed before the memory.
            opened.add(model);
        }
    }

    /** Pushes and pulls the whole model. */
    private Measured exchange(StripedModel model, DataMemory memory) throws IOException {
        long begun = System.nanoTime();
        model.push(0, memory, 0, bytes, Cancellation.NONE);
        model.pull(0, memory, 0, bytes, Cancellation.NONE);
        return Measured.of(2, System.nanoTime() - begun);
    }

    /** Sends pushes one at a time. */
    private Measured push(StripedModel model, DataMemory memory, int pushBytes) throws IOException {
        Histogram nanoseconds = Requester.latencies();
        long begun = System.nanoTime();
        for (int i = 0; i < PUSHES_A_ROUND; i++) {
            long offset = (long) i * pushBytes % bytes;
            long sent = System.nanoTime();
            model.push(offset, memory, offset, pushBytes, Cancellation.NONE);
            nanoseconds.recordValue(System.nanoTime() - sent);
        }
        return Measured.of(nanoseconds, System.nanoTime() - begun);
    }

    private int fastest(Route.Preference datamover, String size, List<Integer> values, int builtIn,
        IntFunction<TransferSizes> sizes, IntFunction<Object> label) throws IOException {
        Progress.show(datamover + ": " + size);
        Map<Integer, Samples> rates = new LinkedHashMap<>();
        try (Closing opened = new Closing()) {
            Map<Integer, Turns.Run> variants = new LinkedHashMap<>();
            for (int value : values) {
                variants.put(value, connect(opened, datamover, sizes.apply(value), this::exchange));
            }
            turns.measure(1, variants)
                .forEach((value, runs) -> rates.put(value, Measured.gigabytesPerSecond(runs, bytes)));
        }
        rates.forEach((value, rate) -> throughput.row(datamover, size, label.apply(value))
            .put("push and pull", Unit.GIGABYTES_PER_SECOND, rate));
        return best(rates, builtIn);
    }

    /**
     * Returns the candidate with the largest median throughput if its gain over the built-in size is at least
     * {@link #LEAST_GAIN}. Otherwise returns the built-in size. The gain is the median of the ratios of all rounds.
     */
    static int best(Map<Integer, Samples> rates, int builtIn) {
        Map.Entry<Integer, Samples> best = Collections.max(rates.entrySet(),
            Comparator.comparingDouble(rate -> rate.getValue().median()));
        Samples usual = rates.get(builtIn);
        boolean gains = usual == null || best.getValue().over(usual).median() >= LEAST_GAIN;
        return gains ? best.getKey() : builtIn;
    }

    private int eagerBytes(Route.Preference datamover) throws IOException {
        Map<Integer, Samples> ratios = new LinkedHashMap<>();
        for (int pushBytes : PUSHES) {
            if (datamover == Route.Preference.ISER && pushBytes > ISER_MESSAGE_BYTES) {
                break;
            }
            Progress.show(datamover + ": pushes of " + ByteSize.exact(pushBytes));
            Table.Row row = latency.row(datamover, new ByteSize(pushBytes));
            try (Closing opened = new Closing()) {
                Exchange pushes = (model, memory) -> push(model, memory, pushBytes);
                Map<String, Turns.Run> variants = new LinkedHashMap<>();
                variants.put(EAGER, connect(opened, datamover, TransferSizes.DEFAULTS, pushes));
                variants.put(FETCHED, connect(opened, datamover, TransferSizes.DEFAULTS.withEagerBytes(0), pushes));
                turns.measure(1, variants).forEach(
                    (way, runs) -> row.put(way, Unit.MICROSECONDS, Measured.samples(runs, Measured::p50Micros)));
            }
            ratios.put(pushBytes, row.ratio(EAGER, FETCHED).figure(EAGER).over(row.figure(FETCHED)));
        }
        return threshold(ratios);
    }

    /**
     * Returns the eager threshold. Up to this size, a push whose data is sent with the command is not slower than a push whose
     * data the target fetches. Returns 0 if the smallest push does not meet this condition.
     *
     * @param ratios the latency if the data is sent with the command, divided by the latency if the target fetches the data; the
     *     keys are the sizes of the pushes, in ascending order
     */
    static int threshold(Map<Integer, Samples> ratios) {
        return ratios.entrySet().stream().takeWhile(ratio -> ratio.getValue().median() <= 1)
            .mapToInt(Map.Entry::getKey).max().orElse(0);
    }
}
