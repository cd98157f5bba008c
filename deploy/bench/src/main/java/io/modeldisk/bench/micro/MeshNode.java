package io.modeldisk.bench.micro;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.bench.grpc.GrpcClient;
import io.modeldisk.bench.grpc.GrpcServer;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.protocol.SessionMover;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.access.AddressRange;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.striping.ModelAddress;
import io.modeldisk.protocol.striping.StripedModel;
import io.modeldisk.protocol.striping.StripedModelContext;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One node of a mesh. A node runs a shard and a gRPC server. A control message over gRPC makes the node send requests to the
 * other nodes. During a measurement, only the shards or only the gRPC servers receive requests.
 */
public final class MeshNode implements AutoCloseable {
    /** The control message that requests the address of the node's shard. */
    static final String WHERE = "Where";
    /** The control message that connects the node to the other nodes. */
    static final String CONNECT = "Connect";
    /** The control message that makes the node send requests to all other nodes. */
    static final String RUN = "Run";

    /** The control message that closes the connections to the other nodes. */
    static final String DISCONNECT = "Disconnect";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MODEL = "bench";

    private final ParameterServer server;
    private final long modelBytes;
    private final GrpcServer grpc;
    private final List<BenchShard> peers = new ArrayList<>();
    private final Map<String, Clients> clients = new HashMap<>();

    /**
     * The addresses of another node.
     *
     * @param grpc the address of the node's gRPC server
     * @param shard the address of the node's shard
     */
    record Peer(String grpc, String shard) {}

    /**
     * The argument of the control message {@code Connect}.
     *
     * @param datamovers the names of the datamovers to connect over, in addition to gRPC
     * @param peers the other nodes
     * @param largestRequestBytes the size of the largest request
     */
    record Connect(List<String> datamovers, List<Peer> peers, int largestRequestBytes) {}

    /**
     * The argument of the control message {@code Run}.
     *
     * @param over the name of a datamover, or {@code gRPC}
     * @param direction push or pull
     * @param requestBytes the size of a request
     * @param requestsEach the number of requests to each other node
     */
    record Order(String over, Direction direction, int requestBytes, long requestsEach) {}

    private MeshNode(InetSocketAddress listen, long modelBytes, Consumer<TargetContext> network) throws IOException {
        this.modelBytes = modelBytes;
        this.server = ParameterServer.launch(new ServerContext()
            .model(MODEL).sizeBytes(modelBytes).aggregator("null", Aggregators.parse("null"))
            .listen(new InetSocketAddress(listen.getAddress(), 0))
            .network(network.andThen(context -> context.access(access(listen)))).conclude());
        try (StripedModel model = StripedModel.connect(
            new StripedModelContext(address(TargetAddress.text(server.localAddress()))).learner("filler"))) {
            BenchShard.fill(model);
            this.grpc = GrpcServer.open(listen, modelBytes, Map.of(WHERE, _ -> where(), CONNECT, this::connect,
                RUN, this::run, DISCONNECT, _ -> disconnect()));
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /**
     * Starts the shard and the gRPC server of a node.
     *
     * @param listen the address of the gRPC server; the shard uses a free port of the same host
     * @param network sets the datamovers of the shard
     */
    public static MeshNode open(InetSocketAddress listen, long modelBytes, Consumer<TargetContext> network)
        throws IOException {
        return new MeshNode(listen, modelBytes, network);
    }

    /**
     * Returns a policy that admits only connections from this machine, even if the shard listens on the address of an RDMA
     * device.
     */
    private static AccessPolicy access(InetSocketAddress listen) {
        return listen.getAddress().isLoopbackAddress()
            ? AccessPolicy.THIS_MACHINE
            : new AccessPolicy(null, true, List.of(),
                BenchShard.thisMachine(listen.getAddress().getHostAddress()).stream().map(AddressRange::parse)
                    .toList());
    }

    private static ModelAddress address(String portal) {
        return ModelAddress.parse("modeldisk://" + portal + "/" + MODEL);
    }

    /** The address of the node's gRPC server. */
    public InetSocketAddress localAddress() {
        return grpc.localAddress();
    }

    /** Serves requests until the node is closed. */
    public void run() {
        grpc.run();
    }

    private String where() {
        return TargetAddress.text(server.localAddress());
    }

    private synchronized String connect(String question) throws IOException {
        Connect wanted = read(question, Connect.class);
        for (Peer peer : wanted.peers()) {
            clients.computeIfAbsent(GrpcClient.NAME, _ -> new Clients())
                .add(new GrpcClient(ModelAddress.parsePortal(peer.grpc(), 0), modelBytes,
                    wanted.largestRequestBytes()));
            BenchShard shard = BenchShard.running(address(peer.shard()));
            peers.add(shard);
            for (String name : wanted.datamovers()) {
                clients.computeIfAbsent(name, _ -> new Clients())
                    .add(new SessionMover(shard.portal(), shard.over(Route.Preference.named(name)), shard.facts(),
                        wanted.largestRequestBytes(), true, "-" + name + "-" + ProcessHandle.current().pid()));
            }
        }
        return "";
    }

    private synchronized String run(String question) throws IOException {
        Order order = read(question, Order.class);
        Outcome outcome = ClosedLoop.run(clients.get(order.over()).all(), order.direction(), order.requestBytes(),
            order.requestsEach());
        return JSON.writeValueAsString(outcome);
    }

    private synchronized String disconnect() {
        clients.values().forEach(Clients::close);
        clients.clear();
        peers.forEach(BenchShard::close);
        peers.clear();
        return "";
    }

    private static <T> T read(String question, Class<T> type) throws IOException {
        try {
            return JSON.readValue(question, type);
        } catch (JsonProcessingException e) {
            throw new IOException("the mesh node received a malformed control message: " + e.getOriginalMessage(), e);
        }
    }

    @Override
    public void close() {
        grpc.close();
        disconnect();
        server.close();
    }
}
