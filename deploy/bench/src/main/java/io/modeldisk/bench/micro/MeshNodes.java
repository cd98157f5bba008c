package io.modeldisk.bench.micro;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.bench.grpc.GrpcClient;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.shard.ChildProcess;
import io.modeldisk.bench.shard.Ways;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;

/** The nodes of a mesh. Each node runs in a separate process and is controlled over gRPC. Not thread-safe. */
final class MeshNodes implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** The buffer size of a client that sends only control messages. */
    private static final int NO_PAYLOAD = 1;

    private final List<ChildProcess> processes = new ArrayList<>();
    private final List<GrpcClient> controls = new ArrayList<>();
    private final Ways ways;

    private MeshNodes(Ways ways) {
        this.ways = ways;
    }

    /** Starts the nodes without connecting them to each other. */
    static MeshNodes start(String modeldisk, int count, Ways ways, long modelBytes) throws IOException {
        MeshNodes nodes = new MeshNodes(ways);
        try {
            for (int i = 0; i < count; i++) {
                ChildProcess process = ChildProcess.start(modeldisk, "bench", "node", "--listen", ways.address() + ":0",
                    "--model-size", Long.toString(modelBytes), "--datamover", ways.serveOption());
                nodes.processes.add(process);
                nodes.controls.add(
                    new GrpcClient(ModelAddress.parsePortal(process.address(), 0), modelBytes, NO_PAYLOAD));
            }
            return nodes;
        } catch (IOException | RuntimeException e) {
            nodes.close();
            throw e;
        }
    }

    /** Closes the connections between the nodes. Must be called before the first node is closed. */
    void disconnect() throws IOException {
        for (GrpcClient control : controls) {
            control.ask(MeshNode.DISCONNECT, "");
        }
    }

    /** Connects every node to every other node over gRPC and over every measured datamover. */
    void connect(int largestRequestBytes) throws IOException {
        List<MeshNode.Peer> all = new ArrayList<>();
        for (int i = 0; i < processes.size(); i++) {
            all.add(new MeshNode.Peer(processes.get(i).address(), controls.get(i).ask(MeshNode.WHERE, "")));
        }
        List<String> datamovers = ways.present().stream().map(Object::toString).toList();
        for (int i = 0; i < controls.size(); i++) {
            List<MeshNode.Peer> others = new ArrayList<>(all);
            others.remove(i);
            controls.get(i).ask(MeshNode.CONNECT,
                JSON.writeValueAsString(new MeshNode.Connect(datamovers, others, largestRequestBytes)));
        }
    }

    /**
     * Makes every node send requests to every other node at the same time. Returns the combined outcome. The latencies are means
     * over the nodes.
     */
    Outcome run(String over, Direction direction, int requestBytes, long requestsEach) throws IOException {
        String order = JSON.writeValueAsString(new MeshNode.Order(over, direction, requestBytes, requestsEach));
        List<FutureTask<String>> tasks = controls.stream()
            .map(control -> new FutureTask<>(() -> control.ask(MeshNode.RUN, order))).toList();
        long begun = System.nanoTime();
        tasks.forEach(task -> Thread.ofPlatform().daemon().name("bench-control").start(task));
        List<Outcome> outcomes = new ArrayList<>();
        for (FutureTask<String> task : tasks) {
            outcomes.add(JSON.readValue(ClosedLoop.await(task), Outcome.class));
        }
        return new Outcome(outcomes.stream().mapToLong(Outcome::requests).sum(), System.nanoTime() - begun,
            outcomes.stream().mapToDouble(Outcome::p50Micros).average().orElseThrow(),
            outcomes.stream().mapToDouble(Outcome::p99Micros).average().orElseThrow());
    }

    @Override
    public void close() {
        controls.forEach(GrpcClient::close);
        processes.forEach(ChildProcess::close);
    }
}
