package io.modeldisk.bench.protocol;

import io.modeldisk.bench.floor.FloorClient;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.report.TextReport;
import io.modeldisk.bench.report.ThroughputResult;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Measures the protocol against a shard, beside the floor; shard and floor are processes of their own. */
public final class ProtocolBench {
    private static final int WARM_UP_BYTES = 256 << 10;
    private static final int WARM_UP_DEPTH = 8;
    private static final long WARM_UP_MILLIS = 500;

    private final Context context;

    /** To measure what the context says. */
    public ProtocolBench(Context context) {
        this.context = context;
    }

    /** Measures the throughput of every aggregator. */
    public List<ThroughputResult> throughput(ThroughputPlan plan) throws IOException {
        List<ThroughputResult> results = new ArrayList<>();
        if (context.runningShard != null) {
            try (BenchShard shard = BenchShard.running(context.runningShard)) {
                measure(shard, context.runningFloor, plan, results);
            }
            return results;
        }
        try (ChildProcess floor = ChildProcess.start(context.modeldisk, "bench", "floor", "--listen", "127.0.0.1:0",
            "--model-size", Long.toString(context.modelBytes))) {
            InetSocketAddress portal = ModelAddress.parsePortal(floor.address(), 0);
            for (String aggregator : context.aggregators) {
                try (BenchShard shard = BenchShard.start(context.modeldisk, aggregator, context.modelBytes)) {
                    measure(shard, portal, plan, results);
                }
            }
        }
        return results;
    }

    private void measure(
        BenchShard shard, InetSocketAddress floorPortal, ThroughputPlan plan, List<ThroughputResult> results)
        throws IOException {
        String aggregator = shard.facts().aggregator();
        boolean sgd = aggregator.startsWith("sgd");
        long buffers = Math.max(plan.bufferBytes(), 2L * WARM_UP_DEPTH * WARM_UP_BYTES);
        long before = shard.movedBytes();
        try (
            FloorClient floor = FloorClient.connect(floorPortal, buffers);
            SessionMover protocol = new SessionMover(shard.portal(), shard.facts(), buffers, shard.isOwn())) {
            context.progress.accept("warming up: " + aggregator);
            PairedRuns warmUp = new PairedRuns(1, WARM_UP_MILLIS);
            for (Direction direction : plan.directions()) {
                warmUp.measure(aggregator, new Load(direction, WARM_UP_BYTES, WARM_UP_DEPTH, 1), floor,
                    sgd ? floor.withSgd() : null, protocol);
            }
            PairedRuns runs = new PairedRuns(plan.pairs(), plan.runMillis());
            for (Load load : plan.loads()) {
                context.progress.accept(TextReport.describe(aggregator, load));
                results.add(runs.measure(aggregator, load, floor,
                    sgd && load.direction().pushes() ? floor.withSgd() : null, protocol));
            }
            checkArrived(shard, protocol.movedBytes(), shard.movedBytes() - before);
        }
    }

    /** All that was acknowledged must have arrived: the shard keeps count too. */
    private static void checkArrived(BenchShard shard, long movedBytes, long countedBytes) throws IOException {
        if (shard.isOwn() ? countedBytes != movedBytes : countedBytes < movedBytes) {
            throw new IOException("pushed and pulled were " + movedBytes + " bytes, and the shard counts "
                + countedBytes);
        }
    }

    /** What to measure against. */
    public static final class Context {
        private String modeldisk;
        private long modelBytes;
        private List<String> aggregators = List.of();
        private ModelAddress runningShard;
        private InetSocketAddress runningFloor;
        private Consumer<String> progress = step -> {};

        /** Sets how the {@code modeldisk} command is called, for the processes that are started. */
        public Context modeldisk(String command) {
            this.modeldisk = command;
            return this;
        }

        /** Sets how large the model is: it should be larger than the processor's cache. */
        public Context modelBytes(long bytes) {
            this.modelBytes = bytes;
            return this;
        }

        /** Sets for which aggregators a shard is started, one after the other. */
        public Context aggregators(List<String> specifications) {
            this.aggregators = List.copyOf(specifications);
            return this;
        }

        /** Measures a shard and a floor that are running, of whose weights nothing is known. */
        public Context running(ModelAddress shard, InetSocketAddress floor) {
            this.runningShard = shard;
            this.runningFloor = floor;
            return this;
        }

        /** Sets who hears how far it is. */
        public Context progress(Consumer<String> listener) {
            this.progress = listener;
            return this;
        }
    }
}
