package io.modeldisk.bench.micro;

import io.modeldisk.bench.grpc.GrpcClient;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.bench.protocol.LatencyPlan;
import io.modeldisk.bench.protocol.PingPongs;
import io.modeldisk.bench.protocol.SessionMover;
import io.modeldisk.bench.report.MicroReport.Rate;
import io.modeldisk.bench.report.MicroReport;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.ChildProcess;
import io.modeldisk.bench.shard.Ways;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * Runs the micro-benchmarks of a plan. Each shard, gRPC server and mesh node runs in a separate process. An instance can run only
 * once.
 */
public final class MicroBench {
    private static final String NO_AGGREGATION = "null";
    private static final int WARM_UP_BYTES = 64 << 10;
    private static final long WARM_UP_REQUESTS = 32;
    private static final List<Direction> DIRECTIONS = List.of(Direction.PUSH, Direction.PULL);

    private final String modeldisk;
    private final MicroPlan plan;
    private final Consumer<String> progress;
    private final Ways ways;
    private final List<String> names = new ArrayList<>();
    private final List<MicroReport.Latency> latencies = new ArrayList<>();
    private final List<Rate> fanIn = new ArrayList<>();
    private final List<Rate> mesh = new ArrayList<>();
    private final Turns turns;

    /**
     * Creates a benchmark that measures a plan.
     *
     * @param modeldisk the path of the {@code modeldisk} command that starts the processes
     * @param progress the listener for progress messages
     */
    public MicroBench(String modeldisk, MicroPlan plan, Consumer<String> progress) {
        this.modeldisk = modeldisk;
        this.plan = plan;
        this.progress = progress;
        this.ways = Ways.of(plan.datamovers());
        this.turns = new Turns(plan.rounds(), plan.runMs());
        ways.present().forEach(way -> names.add(way.toString()));
        names.add(GrpcClient.NAME);
    }

    /**
     * Runs all benchmarks of the plan.
     *
     * @throws IOException if a process does not start, a request fails, or data is corrupted
     */
    public MicroReport run() throws IOException {
        if (plan.latency() != null || plan.fanIn() != null) {
            String address = ways.address();
            try (
                BenchShard shard = BenchShard.start(modeldisk, NO_AGGREGATION, plan.modelBytes(), address,
                    ways.serveOption());
                ChildProcess grpc = ChildProcess.start(modeldisk, "bench", "grpc", "--listen", address + ":0",
                    "--model-size", Long.toString(plan.modelBytes()))) {
                boolean knowsWeights = shard.checkAggregator();
                InetSocketAddress server = ModelAddress.parsePortal(grpc.address(), 0);
                warmUp(shard, server);
                if (plan.latency() != null) {
                    measureLatency(shard, server, knowsWeights);
                }
                if (plan.fanIn() != null) {
                    for (int clients : plan.fanIn().clients()) {
                        measureFanIn(shard, server, knowsWeights, clients);
                    }
                }
            }
        }
        if (plan.mesh() != null) {
            measureMesh();
        }
        return new MicroReport(plan.modelBytes(), List.copyOf(names), latencies, fanIn, mesh, ways.notes("measured"));
    }

    private void warmUp(BenchShard shard, InetSocketAddress server) throws IOException {
        for (String name : names) {
            try (Requester client = connect(name, shard, server, false, WARM_UP_BYTES, 0)) {
                warmUp(name, (direction, bytes) -> ClosedLoop.run(List.of(client), direction, bytes, WARM_UP_REQUESTS));
            }
        }
    }

    @FunctionalInterface
    private interface WarmUp {
        void run(Direction direction, int bytes) throws IOException;
    }

    /**
     * Sends small and large requests in both directions for the warm-up time, so that the JVM compiles the code before the
     * measurement.
     */
    private void warmUp(String name, WarmUp run) throws IOException {
        progress.accept("warming up: " + name);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(plan.warmUpMs());
        while (System.nanoTime() - end < 0) {
            for (Direction direction : DIRECTIONS) {
                run.run(direction, LogicalBlock.BYTES);
                run.run(direction, WARM_UP_BYTES);
            }
        }
    }

    private void measureLatency(BenchShard shard, InetSocketAddress server, boolean knowsWeights)
        throws IOException {
        LatencyPlan latency = plan.latency();
        int most = Collections.max(latency.requestBytes()) + LogicalBlock.BYTES;
        PingPongs pingPongs = new PingPongs(latency);
        try (Clients clients = new Clients()) {
            for (String name : names) {
                clients.add(connect(name, shard, server, knowsWeights, most, 0));
            }
            for (Direction direction : DIRECTIONS) {
                for (int bytes : latency.requestBytes()) {
                    progress.accept("latency: " + describe(direction, bytes));
                    List<Histogram> found = pingPongs.measure(direction, bytes, clients.all());
                    for (int i = 0; i < found.size(); i++) {
                        latencies.add(new MicroReport.Latency(names.get(i), direction, bytes, found.get(i)));
                    }
                }
            }
        }
    }

    private Requester connect(
        String name, BenchShard shard, InetSocketAddress server, boolean knowsWeights, int bufferBytes, int number)
        throws IOException {
        return name.equals(GrpcClient.NAME)
            ? new GrpcClient(server, plan.modelBytes(), bufferBytes)
            : new SessionMover(shard.portal(), shard.over(Route.Preference.named(name)), shard.facts(), bufferBytes,
                knowsWeights, "-" + name + "-" + number);
    }

    private void measureFanIn(BenchShard shard, InetSocketAddress server, boolean knowsWeights, int count)
        throws IOException {
        int bytes = plan.fanIn().requestBytes();
        List<Clients> opened = new ArrayList<>();
        try (Clients all = new Clients()) {
            for (String name : names) {
                Clients clients = all.add(new Clients());
                opened.add(clients);
                for (int i = 0; i < count; i++) {
                    Requester client = clients.add(connect(name, shard, server, knowsWeights, bytes, i));
                    // This request makes the client log in, so that the measurement does not include logins.
                    client.pingPong(Direction.PUSH, bytes, 1, new Histogram(1));
                }
            }
            for (Direction direction : DIRECTIONS) {
                progress.accept(count + " clients: " + describe(direction, bytes));
                List<Turns.Run> runs = new ArrayList<>();
                for (Clients clients : opened) {
                    runs.add(requests -> ClosedLoop.run(clients.all(), direction, bytes, requests));
                }
                fanIn.addAll(rates(direction, count, bytes, turns.measure(runs)));
            }
        }
    }

    private void measureMesh() throws IOException {
        MicroPlan.Mesh wanted = plan.mesh();
        try (MeshNodes nodes = MeshNodes.start(modeldisk, wanted.nodes(), ways, plan.modelBytes())) {
            nodes.connect(Math.max(Collections.max(wanted.requestBytes()), WARM_UP_BYTES));
            for (String name : names) {
                warmUp(name, (direction, bytes) -> nodes.run(name, direction, bytes, WARM_UP_REQUESTS));
            }
            for (Direction direction : DIRECTIONS) {
                for (int bytes : wanted.requestBytes()) {
                    progress.accept(wanted.nodes() + " nodes: " + describe(direction, bytes));
                    List<Turns.Run> runs = new ArrayList<>();
                    for (String name : names) {
                        runs.add(requests -> nodes.run(name, direction, bytes, requests));
                    }
                    mesh.addAll(rates(direction, wanted.nodes(), bytes, turns.measure(runs)));
                }
            }
            nodes.disconnect();
        }
    }

    private static String describe(Direction direction, int bytes) {
        return direction.label() + " of " + ByteSize.exact(bytes);
    }

    private List<Rate> rates(Direction direction, int parties, int bytes, List<List<Outcome>> outcomes) {
        List<Rate> rates = new ArrayList<>();
        for (int i = 0; i < outcomes.size(); i++) {
            List<Outcome> found = outcomes.get(i);
            rates.add(new Rate(names.get(i), direction, parties, bytes, samples(found, Outcome::requestsPerSecond),
                samples(found, Outcome::p50Micros).median(), samples(found, Outcome::p99Micros).median()));
        }
        return rates;
    }

    private static Samples samples(List<Outcome> outcomes, ToDoubleFunction<Outcome> figure) {
        return Samples.of(outcomes.stream().mapToDouble(figure).toArray());
    }
}
