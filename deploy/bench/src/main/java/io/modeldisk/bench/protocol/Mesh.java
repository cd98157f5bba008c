package io.modeldisk.bench.protocol;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.bench.grpc.GrpcClient;
import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Measured;
import io.modeldisk.bench.load.Progress;
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
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Fully connected nodes. Each node consists of a shard and a {@link MeshNode}, which run in separate processes. */
final class Mesh {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long MOST_NODE_BYTES = 64 << 20;
    private static final long WARM_UP_REQUESTS = 32;
    /**
     * The number of sessions that a node opens on each shard: one over each datamover, and those that read the facts of the
     * model.
     */
    private static final int SESSIONS_OF_A_PEER = 5;
    private static final double MICROS_A_MILLI = 1e3;

    private final List<ChildProcess> nodes = new ArrayList<>();
    /** The shard of each node. */
    private final List<BenchShard> shards = new ArrayList<>();

    private Mesh() {}

    /** The size of the weights of each shard and of each gRPC server. A gRPC server keeps its weights on the heap. */
    static long nodeBytes(ProtocolPlan plan) {
        return Math.min(MOST_NODE_BYTES, plan.modelBytes());
    }

    /** Starts a node without connecting it. */
    static ChildProcess startNode(ProtocolPlan plan) throws IOException {
        return ChildProcess.start("bench", "node", plan.datamovers().address() + ":0",
            Long.toString(nodeBytes(plan)));
    }

    /** Measures each number of nodes in a plan. */
    static void measure(ProtocolPlan plan, Report report) throws IOException {
        Table table = report.table("mesh",
            "Fully connected nodes, each of which sends one request at a time to every other node; medians for one node, "
                + "measured in turn",
            "nodes", "direction", "request");
        List<String> datamovers = plan.datamovers().present().stream().map(Route.Preference::toString).toList();
        List<String> names = new ArrayList<>(datamovers);
        names.add(GrpcClient.NAME);
        for (int count : plan.clientsOf(Measure.MESH)) {
            try (Closing opened = new Closing()) {
                Mesh mesh = new Mesh();
                for (int i = 0; i < count; i++) {
                    mesh.shards.add(opened.add(BenchShard.start(Durability.MEMORY, "null", nodeBytes(plan),
                        plan.datamovers(), count * SESSIONS_OF_A_PEER)));
                    mesh.nodes.add(opened.add(startNode(plan)));
                }
                mesh.connect(datamovers, plan.bufferBytes(Measure.MESH));
                for (String name : names) {
                    Progress.show("warming up: " + name);
                    ProtocolBench.warmUp(plan.runMs(Measure.MESH),
                        (direction, bytes) -> mesh.run(name, direction, bytes, WARM_UP_REQUESTS));
                }
                mesh.measure(plan, table, names);
                // All connections are closed before the first server stops.
                mesh.askAll("disconnect");
            }
        }
        report.charts(Charts.lines(table, "request", names));
    }

    private void measure(ProtocolPlan plan, Table table, List<String> names) throws IOException {
        Turns turns = new Turns(plan.rounds(), plan.runMs(Measure.MESH));
        for (Direction direction : ProtocolBench.ONE_WAY) {
            for (int bytes : plan.sizesOf(Measure.MESH)) {
                Progress.show(
                    Plural.counted(nodes.size(), "node") + ": " + direction.label() + " of " + ByteSize.exact(bytes));
                Map<String, Turns.Run> variants = new LinkedHashMap<>();
                names.forEach(name -> variants.put(name, requests -> run(name, direction, bytes, requests)));
                Table.Row row = table.row(nodes.size(), direction.label(), new ByteSize(bytes));
                Map<String, List<Measured>> found = turns.measure(1, variants);
                found.forEach((name, runs) -> row
                    .put(name, Unit.GIGABYTES_PER_SECOND,
                        Measured.gigabytesPerSecond(runs, (double) bytes / nodes.size()))
                    .put(name + " 50 %", Unit.MILLISECONDS,
                        Measured.samples(runs, run -> run.p50Micros() / MICROS_A_MILLI)));
                names.subList(0, names.size() - 1).forEach(name -> row.ratio(name, GrpcClient.NAME));
            }
        }
    }

    /** Connects every node to every other node over gRPC and over every measured datamover. */
    private void connect(List<String> datamovers, int bufferBytes) throws IOException {
        List<MeshNode.Peer> all = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            all.add(new MeshNode.Peer(nodes.get(i).address(), shards.get(i).address()));
        }
        for (int i = 0; i < nodes.size(); i++) {
            List<MeshNode.Peer> others = new ArrayList<>(all);
            others.remove(i);
            nodes.get(i)
                .ask("connect " + JSON.writeValueAsString(new MeshNode.Connect(datamovers, others, bufferBytes)));
        }
    }

    private List<String> askAll(String order) throws IOException {
        List<Callable<String>> tasks = new ArrayList<>();
        nodes.forEach(node -> tasks.add(() -> node.ask(order)));
        return ClosedLoop.together(tasks);
    }

    /** Makes every node send requests to every other node at the same time. The latencies are means over the nodes. */
    private Measured run(String over, Direction direction, int requestBytes, long requestsEach) throws IOException {
        String order = "run " + JSON.writeValueAsString(new MeshNode.Run(over, direction, requestBytes, requestsEach));
        long begun = System.nanoTime();
        List<String> answers = askAll(order);
        long nanos = System.nanoTime() - begun;
        List<Measured> parts = new ArrayList<>();
        for (String answer : answers) {
            parts.add(JSON.readValue(answer, Measured.class));
        }
        return new Measured(parts.stream().mapToLong(Measured::requests).sum(), nanos,
            parts.stream().mapToDouble(Measured::p50Micros).average().orElseThrow(),
            parts.stream().mapToDouble(Measured::p99Micros).average().orElseThrow());
    }
}
