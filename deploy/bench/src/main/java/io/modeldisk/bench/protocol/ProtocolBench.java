package io.modeldisk.bench.protocol;

import io.modeldisk.bench.baseline.BaselineClient;
import io.modeldisk.bench.baseline.DiskBaseline;
import io.modeldisk.bench.baseline.MemoryBaseline;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Mover;
import io.modeldisk.bench.report.LatencyResult;
import io.modeldisk.bench.report.ProtocolReport;
import io.modeldisk.bench.report.ThroughputResult;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.ChildProcess;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.striping.ModelAddress;
import io.modeldisk.server.record.RecordLog;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Measures the protocol and its baseline in alternation. The shard and the baseline server run in separate processes. An instance
 * can run only once.
 */
public final class ProtocolBench {
    /** The largest group of pushes that the baseline of a journal synchronizes at once: a buffer of a shard's record log. */
    private static final long MAX_GROUP_BYTES = RecordLog.DEFAULT_BUFFER_BYTES;
    private static final int WARM_UP_BYTES = 256 << 10;
    private static final int WARM_UP_DEPTH = 8;
    private static final long WARM_UP_MS = 500;

    private final Context context;
    private final List<ThroughputResult> throughputs = new ArrayList<>();
    private final List<LatencyResult> latencies = new ArrayList<>();
    private ThroughputPlan plan;
    private LatencyPlan latencyPlan;

    /** Creates the benchmark that the context describes. */
    public ProtocolBench(Context context) {
        this.context = context;
    }

    /**
     * Measures throughput with every aggregator, and latency with the first aggregator.
     *
     * @param throughput the plan for throughput; null to skip this measurement
     * @param latency the plan for latency; null to skip this measurement
     * @throws IOException if a process does not start, a request fails, or data is corrupted
     */
    public ProtocolReport run(ThroughputPlan throughput, LatencyPlan latency) throws IOException {
        plan = throughput;
        latencyPlan = latency;
        if (context.runningShard != null) {
            try (BenchShard shard = BenchShard.running(context.runningShard)) {
                measure(shard, Durability.MEMORY, context.runningBaseline);
            }
            return new ProtocolReport(context.modelBytes, throughputs, latencies);
        }
        try (ChildProcess baseline = ChildProcess.start(context.modeldisk, "bench", "baseline", "--listen",
            "127.0.0.1:0",
            "--model-size", Long.toString(context.modelBytes))) {
            InetSocketAddress portal = ModelAddress.parsePortal(baseline.address(), 0);
            for (String aggregator : context.aggregators) {
                for (Durability durability : context.durabilities) {
                    try (BenchShard shard = BenchShard.start(context.modeldisk, durability, aggregator,
                        context.modelBytes, !context.datamovers.equals(List.of(Route.Preference.TCP)))) {
                        measure(shard, durability, portal);
                    }
                }
            }
        }
        return new ProtocolReport(context.modelBytes, throughputs, latencies);
    }

    private void measure(BenchShard shard, Durability durability, InetSocketAddress baselinePortal) throws IOException {
        boolean knowsWeights = shard.checkAggregator();
        for (Route.Preference datamover : context.datamovers) {
            measure(shard, durability, datamover, baselinePortal, knowsWeights);
        }
    }

    private void measure(
        BenchShard shard, Durability durability, Route.Preference datamover, InetSocketAddress baselinePortal,
        boolean knowsWeights)
        throws IOException {
        String aggregator = shard.facts().aggregator();
        String name = durability.label(
            datamover == Route.Preference.TCP ? aggregator : aggregator + " over " + datamover);
        long before = shard.movedBytes();
        try (
            MemoryBaseline alone = datamover == Route.Preference.SHM && durability != Durability.JOURNAL
                && shard.isOwn() && plan != null
                    ? new MemoryBaseline(context.modelBytes, Math.max(bufferBytes(), gradientBytes()), aggregator)
                    : null;
            DiskBaseline disk = durability == Durability.JOURNAL && plan != null
                ? new DiskBaseline(Math.toIntExact(Math.min(MAX_GROUP_BYTES, bufferBytes())))
                : null;
            BaselineClient baseline = BaselineClient.connect(baselinePortal, bufferBytes(), gradientBytes());
            SessionMover protocol = new SessionMover(shard.portal(), shard.over(datamover), shard.facts(),
                bufferBytes(), gradientBytes(), knowsWeights)) {
            if (plan != null) {
                measureThroughput(name, baseline, protocol, durability == Durability.JOURNAL ? disk : alone);
            }
            if (latencyPlan != null && latencies.isEmpty()) {
                measureLatency(baseline, protocol);
            }
            checkArrived(shard, protocol.movedBytes(), shard.movedBytes() - before);
        }
    }

    private void measureThroughput(String aggregator, BaselineClient baseline, SessionMover protocol,
        Mover alone)
        throws IOException {
        boolean sgd = aggregator.startsWith("sgd:");
        context.progress.accept("warming up: " + aggregator);
        PairedRuns warmUp = new PairedRuns(1, WARM_UP_MS);
        for (Direction direction : plan.directions()) {
            warmUp.measure(aggregator, new Load(direction, WARM_UP_BYTES, WARM_UP_DEPTH, 1),
                new PairedRuns.Sides(baseline, sgd ? baseline.withSgd() : null, protocol,
                    measures(alone, direction) ? alone : null));
        }
        PairedRuns runs = new PairedRuns(plan.pairs(), plan.runMs());
        for (Load load : plan.loads()) {
            context.progress.accept(load.describe(aggregator));
            throughputs.add(runs.measure(aggregator, load,
                new PairedRuns.Sides(baseline, sgd && load.direction().pushes() ? baseline.withSgd() : null, protocol,
                    measures(alone, load.direction()) ? alone : null)));
        }
    }

    /** Whether a baseline of one thread can move data in a direction. */
    private static boolean measures(Mover alone, Direction direction) {
        return direction != Direction.BOTH && (direction.pushes() || !(alone instanceof DiskBaseline));
    }

    private void measureLatency(BaselineClient baseline, SessionMover protocol) throws IOException {
        context.progress.accept("measuring latency");
        PingPongs pingPongs = new PingPongs(latencyPlan);
        for (Direction direction : List.of(Direction.PUSH, Direction.PULL)) {
            for (int bytes : latencyPlan.requestBytes()) {
                List<Histogram> found = pingPongs.measure(direction, bytes, List.of(baseline, protocol));
                latencies.add(new LatencyResult(direction, bytes, found.getFirst(), found.getLast()));
            }
        }
    }

    private long gradientBytes() {
        return plan == null ? 0 : plan.gradientBytes();
    }

    private long bufferBytes() {
        long most = 2L * WARM_UP_DEPTH * WARM_UP_BYTES;
        if (plan != null) {
            most = Math.max(most, plan.bufferBytes());
        }
        if (latencyPlan != null) {
            most = Math.max(most, Collections.max(latencyPlan.requestBytes()) + LogicalBlock.BYTES);
        }
        return most;
    }

    /** Checks that the shard has counted all bytes that the session pushed and pulled. */
    private static void checkArrived(BenchShard shard, long movedBytes, long countedBytes) throws IOException {
        if (shard.isOwn() ? countedBytes != movedBytes : countedBytes < movedBytes) {
            throw new IOException("the session pushed and pulled " + movedBytes + " bytes, but the shard counted "
                + countedBytes);
        }
    }

    /** The configuration of the benchmark. */
    public static final class Context {
        private String modeldisk;
        private long modelBytes;
        private List<String> aggregators = List.of();
        private List<Route.Preference> datamovers = List.of(Route.Preference.TCP);
        private List<Durability> durabilities = List.of(Durability.MEMORY);
        private ModelAddress runningShard;
        private InetSocketAddress runningBaseline;
        private Consumer<String> progress = step -> {};

        /** Sets the path of the {@code modeldisk} command that starts the processes. */
        public Context modeldisk(String command) {
            this.modeldisk = command;
            return this;
        }

        /** Sets the size of the model, which should be larger than the processor's caches. */
        public Context modelBytes(long bytes) {
            this.modelBytes = bytes;
            return this;
        }

        /** Sets the aggregators. A shard is started for each aggregator, one after another. */
        public Context aggregators(List<String> specifications) {
            this.aggregators = List.copyOf(specifications);
            return this;
        }

        /** Sets the datamovers, which are measured one after another. The default is TCP. */
        public Context datamovers(List<Route.Preference> wishes) {
            this.datamovers = List.copyOf(wishes);
            return this;
        }

        /** Sets the durabilities, which are measured one after another with each aggregator. The default is memory. */
        public Context durabilities(List<Durability> kinds) {
            this.durabilities = List.copyOf(kinds);
            return this;
        }

        /** Sets a shard and a baseline server that are already running. The weights of a running shard are not checked. */
        public Context running(ModelAddress shard, InetSocketAddress baseline) {
            this.runningShard = shard;
            this.runningBaseline = baseline;
            return this;
        }

        /** Sets the listener for progress messages. */
        public Context progress(Consumer<String> listener) {
            this.progress = listener;
            return this;
        }
    }
}
