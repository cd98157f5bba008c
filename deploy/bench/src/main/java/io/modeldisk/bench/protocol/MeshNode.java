package io.modeldisk.bench.protocol;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.bench.grpc.GrpcClient;
import io.modeldisk.bench.grpc.GrpcServer;
import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.access.AddressRange;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.shm.MappingLimits;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
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
 * One node of a mesh: a shard and a gRPC server, and clients of those of the other nodes. Each line of the standard input is an
 * order of {@link Mesh}, and each line of the standard output the answer. The node ends with its input. During a measurement,
 * only the shards or only the gRPC servers receive requests.
 */
public final class MeshNode implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MODEL = "bench";

    private final ParameterServer server;
    private final GrpcServer grpc;
    private final long modelBytes;
    private final Map<String, List<Requester>> clients = new HashMap<>();
    private Closing connections = new Closing();

    /**
     * The addresses of a node.
     *
     * @param grpc the address of the gRPC server
     * @param shard the address of the shard
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

    /**
     * Starts the shard and the gRPC server of a node.
     *
     * @param listen the address of the gRPC server; the shard uses a free port of the same host
     * @param datamovers the names of the datamovers of the shard, separated by commas
     */
    public MeshNode(InetSocketAddress listen, long modelBytes, String datamovers) throws IOException {
        this.modelBytes = modelBytes;
        this.server = ParameterServer.launch(new ServerContext()
            .model(MODEL).sizeBytes(modelBytes).aggregator("null", Aggregators.parse("null"))
            .listen(new InetSocketAddress(listen.getAddress(), 0))
            .network(network -> network.access(access(listen)).datamovers(openers(datamovers))).conclude());
        try (StripedModel model = StripedModel.connect(
            new StripedModelContext(address(TargetAddress.text(server.localAddress()))).learner("filler"))) {
            BenchShard.fill(model);
            this.grpc = GrpcServer.open(listen, modelBytes);
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /**
     * Returns a policy that admits only connections from this machine, even if the shard listens on the address of an RDMA
     * device.
     */
    private static AccessPolicy access(InetSocketAddress listen) {
        return listen.getAddress().isLoopbackAddress()
            ? AccessPolicy.THIS_MACHINE
            : new AccessPolicy(null, true,
                BenchShard.thisMachine(listen.getAddress().getHostAddress()).stream().map(AddressRange::parse)
                    .toList());
    }

    private static List<TargetPortal.Opener> openers(String datamovers) {
        List<TargetPortal.Opener> openers = new ArrayList<>();
        for (String name : datamovers.split(",")) {
            openers.add(switch (Route.Preference.named(name)) {
                case ISER -> IserProvider.find().opener();
                case SHM -> new ShmPortal.Opener(SocketPath.defaultDirectory(), new MappingLimits());
                default -> new TcpPortal.Opener();
            });
        }
        return openers;
    }

    private static ModelAddress address(String portal) {
        return ModelAddress.parse("modeldisk://" + portal + "/" + MODEL);
    }

    /** The address of the node's gRPC server. */
    public InetSocketAddress localAddress() {
        return grpc.localAddress();
    }

    /** Follows the orders in the standard input until it ends. */
    public void run(PrintStream answers) throws IOException {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String[] order = line.split(" ", 2);
            answers.println(switch (order[0]) {
                case "where" -> TargetAddress.text(server.localAddress());
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
            BenchShard shard = connections.add(BenchShard.running(address(peer.shard())));
            for (String name : wanted.datamovers()) {
                add(name, new SessionMover(shard, Route.Preference.named(name), wanted.bufferBytes(), 0, true,
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
        server.close();
    }
}
