package io.modeldisk.bench.protocol;

import io.modeldisk.bench.baseline.BaselineClient;
import io.modeldisk.bench.baseline.MemoryBaseline;
import io.modeldisk.bench.grpc.GrpcClient;
import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Measured;
import io.modeldisk.bench.load.Progress;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.bench.load.Turns;
import io.modeldisk.bench.protocol.ProtocolPlan.Measure;
import io.modeldisk.bench.report.Charts;
import io.modeldisk.bench.report.Report;
import io.modeldisk.bench.report.Table;
import io.modeldisk.bench.report.Unit;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.ChildProcess;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.TargetAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures the protocol in turn with baselines. The shards and the servers of the baselines run in separate processes. An
 * instance can run only once.
 */
public final class ProtocolBench {
    static final List<Direction> ONE_WAY = List.of(Direction.PUSH, Direction.PULL);

    private static final String SOCKETS = "sockets";
    private static final String SOCKETS_WITH_SGD = "sockets with sgd";
    private static final String THREAD = "one thread";
    private static final String MEDIAN = " 50 %";
    private static final int WARM_UP_BYTES = 256 << 10;
    private static final int WARM_UP_DEPTH = 8;
    private static final long WARM_UP_MS = 500;
    private static final long FEWEST_REQUESTS = 20;

    private final ProtocolPlan plan;
    private final Report report = new Report("protocol");
    private final Table throughput;
    private final Table latency;
    private final Table fanIn;

    /** Creates the benchmark of a plan. */
    public ProtocolBench(ProtocolPlan plan) {
        this.plan = plan;
        String turns = plan.rounds() == 1 ? "one run" : "medians of " + plan.rounds() + " runs in turn";
        throughput = report.table("throughput", "Throughput of one session: " + turns, "aggregator", "direction",
            "request", "in flight");
        latency = report.table("latency", "Latency of one request at a time: " + turns, "direction", "request");
        fanIn = report.table("fanIn", "One server, each client sends one request at a time: " + turns, "clients",
            "direction", "request");
    }

    /**
     * Runs all measures of the plan. Latency and clients are measured with the first aggregator.
     *
     * @throws IOException if a process does not start, a request fails, or data is corrupted
     */
    public Report run() throws IOException {
        report.fact("modelBytes", plan.modelBytes());
        if (plan.running() != null) {
            try (BenchShard shard = BenchShard.running(plan.running())) {
                measure(shard, Durability.MEMORY, plan.baseline(), null);
            }
        } else if (measures(Measure.THROUGHPUT) || measures(Measure.LATENCY) || measures(Measure.FAN_IN)) {
            measureOwnShards();
        }
        if (measures(Measure.MESH)) {
            Mesh.measure(plan, report);
        }
        if (measures(Measure.SESSIONS)) {
            ManySessions.measure(plan, report);
        }
        if (latency.rows().stream().anyMatch(row -> row.figure(SOCKETS + MEDIAN) != null)) {
            report.note(
                "Below 4 KiB, a push moves a logical block; a pull and the baselines move only the requested bytes.");
        }
        plan.datamovers().missing().forEach(report::note);
        report.charts(Charts.lines(throughput, "request", throughput.columns(Unit.GIGABYTES_PER_SECOND)));
        report.charts(Charts.lines(latency, "request", latency.columns(Unit.MICROSECONDS).stream()
            .filter(column -> column.endsWith(MEDIAN)).toList()));
        report.charts(Charts.lines(fanIn, "clients", fanIn.columns(Unit.REQUESTS_PER_SECOND)));
        return report;
    }

    private boolean measures(Measure measure) {
        return plan.measures().contains(measure);
    }

    private void measureOwnShards() throws IOException {
        String listen = plan.datamovers().address() + ":0";
        try (Closing opened = new Closing()) {
            InetSocketAddress baseline = portal(
                opened.add(ChildProcess.start("bench", "baseline", "--listen", listen)));
            InetSocketAddress grpc = measures(Measure.LATENCY) || measures(Measure.FAN_IN)
                ? portal(opened.add(Mesh.startNode(plan)))
                : null;
            for (String aggregator : plan.aggregators()) {
                for (Durability durability : plan.durabilities()) {
                    try (BenchShard shard = BenchShard.start(durability, aggregator, plan.modelBytes(),
                        plan.datamovers(), 0)) {
                        measure(shard, durability, baseline, grpc);
                    }
                }
            }
        }
    }

    private static InetSocketAddress portal(ChildProcess process) {
        return TargetAddress.parse(process.address(), 0);
    }

    private void measure(BenchShard shard, Durability durability, InetSocketAddress baseline, InetSocketAddress grpc)
        throws IOException {
        boolean knowsWeights = shard.knowsWeights();
        long before = shard.movedBytes();
        try (Closing opened = new Closing()) {
            Map<String, SessionMover> sessions = new LinkedHashMap<>();
            for (Route.Preference datamover : plan.datamovers().present()) {
                sessions.put(datamover.toString(), opened.add(new SessionMover(shard, datamover, plan.bufferBytes(),
                    plan.gradientBytes(), knowsWeights, "-" + datamover)));
            }
            BaselineClient sockets = opened.add(BaselineClient.connect(baseline, shard.facts().bytesOfShard(),
                plan.bufferBytes(), plan.gradientBytes()));
            if (measures(Measure.THROUGHPUT)) {
                measureThroughput(shard, durability, sessions, sockets);
            }
            if (measures(Measure.LATENCY) && latency.rows().isEmpty()) {
                measureLatency(sessions, sockets, grpc == null ? null : opened.add(grpcClient(grpc, Measure.LATENCY)));
            }
            checkArrived(shard, sessions.values().stream().mapToLong(SessionMover::movedBytes).sum(),
                shard.movedBytes() - before);
        }
        if (measures(Measure.FAN_IN) && fanIn.rows().isEmpty()) {
            measureFanIn(shard, grpc, knowsWeights);
        }
    }

    private GrpcClient grpcClient(InetSocketAddress server, Measure measure) {
        return new GrpcClient(server, Mesh.nodeBytes(plan), plan.bufferBytes(measure));
    }

    @FunctionalInterface
    private interface Move {
        /** Moves the data of a load. Returns the nanoseconds until the receiver has confirmed the last request. */
        long move(Load load) throws IOException;
    }

    private static Turns.Run run(Load load, Move move) {
        return requests -> Measured.of(requests, move.move(load.withRequests(requests)));
    }

    private void measureThroughput(
        BenchShard shard, Durability durability, Map<String, SessionMover> sessions, BaselineClient sockets)
        throws IOException {
        String aggregator = durability.label(shard.facts().aggregator());
        boolean inMemory = shard.isOwn() && durability != Durability.JOURNAL
            && sessions.containsKey(Route.Preference.SHM.toString());
        try (
            MemoryBaseline alone = inMemory
                ? new MemoryBaseline(plan.modelBytes(), Math.max(plan.bufferBytes(), plan.gradientBytes()),
                    shard.facts().aggregator())
                : null) {
            for (Direction direction : plan.directions()) {
                Progress.show("warming up: " + aggregator);
                Load load = new Load(direction, WARM_UP_BYTES, WARM_UP_DEPTH, 1);
                new Turns(1, WARM_UP_MS).measure(WARM_UP_DEPTH, variants(load, shard, sessions, sockets, alone));
            }
            Turns turns = new Turns(plan.rounds(), plan.runMs(Measure.THROUGHPUT));
            for (Load load : plan.loads()) {
                Progress
                    .show(aggregator + ": " + load.direction().label() + " of " + ByteSize.exact(load.requestBytes())
                        + ", queue depth " + load.queueDepth());
                Map<String, List<Measured>> found = turns.measure(load.queueDepth(),
                    variants(load, shard, sessions, sockets, alone));
                Table.Row row = throughput.row(aggregator, load.direction().label(),
                    new ByteSize(load.requestBytes()), load.queueDepth());
                found.forEach((name, runs) -> row.put(name, Unit.GIGABYTES_PER_SECOND,
                    Measured.gigabytesPerSecond(runs, (double) load.requestBytes() * load.direction().ways())));
                addRatios(row, List.copyOf(sessions.keySet()));
            }
        }
    }

    private static Map<String, Turns.Run> variants(
        Load load, BenchShard shard, Map<String, SessionMover> sessions, BaselineClient sockets, MemoryBaseline alone) {
        Map<String, Turns.Run> variants = new LinkedHashMap<>();
        sessions.forEach((name, session) -> variants.put(name, run(load, session::move)));
        variants.put(SOCKETS, run(load, each -> sockets.move(each, false)));
        if (load.direction().pushes() && shard.facts().aggregator().startsWith("sgd:")) {
            variants.put(SOCKETS_WITH_SGD, run(load, each -> sockets.move(each, true)));
        }
        // The memory baseline has only one thread, so it cannot push and pull at the same time.
        if (alone != null && load.direction() != Direction.BOTH) {
            variants.put(THREAD, run(load, alone::move));
        }
        return variants;
    }

    /**
     * Adds ratios to a row. The throughput of each session is divided by the throughput of the sockets. The throughput of shm is
     * also divided by its upper bound, the throughput of one thread that copies or aggregates. The throughput of every session
     * but the first is also divided by the throughput of the first session.
     */
    private static void addRatios(Table.Row row, List<String> sessions) {
        for (String session : sessions) {
            for (String baseline : List.of(SOCKETS, THREAD)) {
                boolean bounds = !baseline.equals(THREAD) || session.equals(Route.Preference.SHM.toString());
                if (bounds && row.figure(baseline) != null) {
                    row.ratio(session, baseline);
                }
            }
            if (!session.equals(sessions.getFirst())) {
                row.ratio(session, sessions.getFirst());
            }
        }
    }

    private void measureLatency(Map<String, SessionMover> sessions, BaselineClient sockets, GrpcClient grpc)
        throws IOException {
        Map<String, Requester> requesters = new LinkedHashMap<>(sessions);
        if (grpc != null) {
            requesters.put(GrpcClient.NAME, grpc);
        }
        warmUp(requesters);
        requesters.put(SOCKETS, sockets);
        String reference = (grpc == null ? SOCKETS : GrpcClient.NAME) + MEDIAN;
        Turns turns = new Turns(plan.rounds(), Math.max(1, plan.runMs(Measure.LATENCY) / plan.rounds()));
        for (Direction direction : ONE_WAY) {
            for (int bytes : plan.sizesOf(Measure.LATENCY)) {
                Progress.show("latency: " + direction.label() + " of " + ByteSize.exact(bytes));
                Map<String, Turns.Run> variants = new LinkedHashMap<>();
                requesters.forEach((name, requester) -> variants.put(name,
                    requests -> requester.measure(direction, bytes, requests)));
                Table.Row row = latency.row(direction.label(), new ByteSize(bytes));
                turns.measure(FEWEST_REQUESTS, variants)
                    .forEach((name, runs) -> row
                        .put(name + MEDIAN, Unit.MICROSECONDS, Measured.samples(runs, Measured::p50Micros))
                        .put(name + " 99 %", Unit.MICROSECONDS, Measured.samples(runs, Measured::p99Micros)));
                sessions.keySet().forEach(name -> row.ratio(name + MEDIAN, reference));
            }
        }
    }

    /** Sends small and large requests in both directions until the JVMs have compiled the code. */
    private void warmUp(Map<String, Requester> requesters) throws IOException {
        for (Map.Entry<String, Requester> each : requesters.entrySet()) {
            Progress.show("warming up: " + each.getKey());
            warmUp(plan.runMs(Measure.LATENCY), (direction, bytes) -> each.getValue()
                .measure(direction, bytes, FEWEST_REQUESTS));
        }
    }

    /** The action that a warm-up repeats. */
    @FunctionalInterface
    interface WarmUp {
        /** Sends some requests. */
        void run(Direction direction, int bytes) throws IOException;
    }

    /**
     * Repeats requests for 32 times the duration of a run, but for at most 10 s. gRPC needs this time to reach its full speed.
     */
    static void warmUp(long runMs, WarmUp requests) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(10_000, 32 * runMs));
        while (System.nanoTime() - end < 0) {
            for (Direction direction : ONE_WAY) {
                requests.run(direction, 4 << 10);
                requests.run(direction, 64 << 10);
            }
        }
    }

    private void measureFanIn(BenchShard shard, InetSocketAddress grpc, boolean knowsWeights) throws IOException {
        Turns turns = new Turns(plan.rounds(), plan.runMs(Measure.FAN_IN));
        for (int count : plan.clientsOf(Measure.FAN_IN)) {
            try (Closing opened = new Closing()) {
                Map<String, List<Requester>> clients = new LinkedHashMap<>();
                for (Route.Preference datamover : plan.datamovers().present()) {
                    List<Requester> group = clients.computeIfAbsent(datamover.toString(), _ -> new ArrayList<>());
                    for (int i = 0; i < count; i++) {
                        group.add(opened.add(new SessionMover(shard, datamover,
                            plan.bufferBytes(Measure.FAN_IN), 0, knowsWeights, "-" + datamover + "-" + i)));
                    }
                }
                List<Requester> group = clients.computeIfAbsent(GrpcClient.NAME, _ -> new ArrayList<>());
                for (int i = 0; i < count; i++) {
                    group.add(opened.add(grpcClient(grpc, Measure.FAN_IN)));
                }
                for (List<Requester> each : clients.values()) {
                    if (fanIn.rows().isEmpty()) {
                        warmUp(plan.runMs(Measure.FAN_IN),
                            (direction, bytes) -> ClosedLoop.run(each, direction, bytes, 1));
                    }
                    // The clients log in here, so the measurement does not include logins.
                    ClosedLoop.run(each, Direction.PUSH, plan.sizesOf(Measure.FAN_IN).getFirst(), 1);
                }
                for (Direction direction : ONE_WAY) {
                    for (int bytes : plan.sizesOf(Measure.FAN_IN)) {
                        Progress.show(Plural.counted(count, "client") + ": " + direction.label() + " of "
                            + ByteSize.exact(bytes));
                        Map<String, Turns.Run> variants = new LinkedHashMap<>();
                        clients.forEach((name, each) -> variants.put(name,
                            requests -> ClosedLoop.run(each, direction, bytes, requests)));
                        Table.Row row = fanIn.row(count, direction.label(), new ByteSize(bytes));
                        turns.measure(1, variants).forEach((name, runs) -> row.put(name, Unit.REQUESTS_PER_SECOND,
                            Measured.samples(runs, Measured::requestsPerSecond)));
                        plan.datamovers().present()
                            .forEach(datamover -> row.ratio(datamover.toString(), GrpcClient.NAME));
                    }
                }
            }
        }
    }

    /** Checks that the shard has counted all bytes that the sessions pushed and pulled. */
    private static void checkArrived(BenchShard shard, long movedBytes, long countedBytes) throws IOException {
        if (shard.isOwn() ? countedBytes != movedBytes : countedBytes < movedBytes) {
            throw new IOException("the sessions pushed and pulled " + movedBytes + " bytes, but the shard counted "
                + countedBytes);
        }
    }
}
