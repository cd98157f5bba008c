package io.modeldisk.bench.protocol;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.bench.grpc.GrpcClient;
import io.modeldisk.bench.grpc.GrpcServer;
import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.striping.ModelAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The process of one node of a mesh. It contains a gRPC server, and clients that connect to the gRPC servers and shards of the
 * other nodes. The shard of the node has its own process, as in a training job. Each line of the standard input is an order from
 * {@link Mesh}, and each line of the standard output is the answer to an order. The process ends when its standard input ends.
 * During a measurement, only the shards or only the gRPC servers receive requests.
 */
public final class MeshNode implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final GrpcServer grpc;
    private final long modelBytes;
    private final Map<String, List<Requester>> clients = new HashMap<>();
    private Closing connections = new Closing();

    /**
     * The addresses of a node.
     *
     * @param grpc the address of the gRPC server
     * @param shard the address of the shard, {@code modeldisk://HOST:PORT/NAME}
     */
    record Peer(String grpc, String shard) {}

    /**
     * The argument of the order {@code connect}.
     *
     * @param datamovers the names of the datamovers to connect over, in addition to gRPC
     * @param peers the other nodes
     * @param bufferBytes the size of the largest request
     */
    record Connect(List<String> datamovers, List<Peer> peers, int bufferBytes) {}

    /**
     * The argument of the order {@code run}.
     *
     * @param over the name of a datamover, or {@code gRPC}
     * @param requestsEach the number of requests to each other node
     */
    record Run(String over, Direction direction, int requestBytes, long requestsEach) {}

    /** Starts the gRPC server of a node. */
    public MeshNode(InetSocketAddress listen, long modelBytes) throws IOException {
        this.modelBytes = modelBytes;
        this.grpc = GrpcServer.open(listen, modelBytes);
    }

    /** The address of the node's gRPC server. */
    public InetSocketAddress localAddress() {
        return grpc.localAddress();
    }

    /** Executes the orders from the standard input until the input ends. */
    public void run(PrintStream answers) throws IOException {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String[] order = line.split(" ", 2);
            answers.println(switch (order[0]) {
                case "connect" -> connect(JSON.readValue(order[1], Connect.class));
                case "run" -> run(JSON.readValue(order[1], Run.class));
                default -> disconnect();
            });
        }
    }

    private String connect(Connect wanted) throws IOException {
        for (Peer peer : wanted.peers()) {
            add(GrpcClient.NAME, new GrpcClient(TargetAddress.parse(peer.grpc(), 0), modelBytes,
                wanted.bufferBytes()));
            BenchShard shard = connections.add(BenchShard.running(ModelAddress.parse(peer.shard())));
            for (String name : wanted.datamovers()) {
                add(name,
                    new SessionMover(shard, EnumNames.parse(Route.Preference.class, "datamover", name),
                        wanted.bufferBytes(), 0, true,
                        "-" + name + "-" + ProcessHandle.current().pid()));
            }
        }
        return "connected";
    }

    private void add(String name, Requester client) {
        clients.computeIfAbsent(name, _ -> new ArrayList<>()).add(connections.add(client));
    }

    private String run(Run order) throws IOException {
        return JSON.writeValueAsString(ClosedLoop.run(clients.get(order.over()), order.direction(),
            order.requestBytes(), order.requestsEach()));
    }

    private String disconnect() throws IOException {
        connections.close();
        connections = new Closing();
        clients.clear();
        return "disconnected";
    }

    @Override
    public void close() throws IOException {
        grpc.close();
        disconnect();
    }
}
