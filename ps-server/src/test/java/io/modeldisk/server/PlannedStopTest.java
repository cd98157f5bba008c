package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.fault.checkpoint.CheckpointPeriod;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.fake.Roles;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.SessionsImage;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import io.modeldisk.test.NetworkPath;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stops a mount and then all shards of a bsp model, and starts them again, as an upgrade of a host does. The mount does not know
 * the result of its last push. All gradient values are 1, so each weight is the number of applied rounds.
 */
@Timeout(120)
class PlannedStopTest {
    private static final int SHARDS = 2;
    private static final int BLOCK = 16384;
    private static final int SIZE = 4 * BLOCK;

    @TempDir
    private Path folder;
    private final List<ParameterServer> servers = new ArrayList<>();
    private final List<NetworkPath> paths = new ArrayList<>();
    private final List<StripedModel> models = new ArrayList<>();
    private final DataMemory memory = DataMemory.allocate(SIZE);
    private StripedModel mount;
    private StripedModel other;

    @BeforeEach
    void fill() {
        for (long at = 0; at < SIZE; at += Float.BYTES) {
            memory.slab(0).set(ValueLayout.JAVA_FLOAT, at, 1);
        }
    }

    @AfterEach
    void close() throws IOException {
        models.forEach(StripedModel::close);
        for (NetworkPath path : paths) {
            path.close();
        }
        servers.forEach(ParameterServer::close);
        memory.close();
    }

    private void serve(Duration lease) {
        List<CompletableFuture<ParameterServer>> starting = new ArrayList<>();
        for (int i = 0; i < SHARDS; i++) {
            ServerContext context = new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(BLOCK).shard(i)
                .shards(SHARDS).listen(new InetSocketAddress("127.0.0.1", 0))
                .aggregator("sum", Aggregators.parse("sum")).consistency("bsp").learners(2).lease(lease)
                .checkpoints(new CheckpointSettings(folder, CheckpointPeriod.parse("1h"), 3, CheckpointSettings.ANY,
                    1 << 20));
            CompletableFuture<ParameterServer> server = new CompletableFuture<>();
            Roles.start(() -> server.complete(ParameterServer.launch(context)));
            starting.add(server);
        }
        servers.clear();
        starting.forEach(server -> servers.add(server.orTimeout(60, TimeUnit.SECONDS).join()));
    }

    private void begin(Duration lease) throws IOException {
        serve(lease);
        for (ParameterServer server : servers) {
            paths.add(new NetworkPath(server.localAddress()));
        }
        mount = connectThroughPaths();
        other = connect("other", servers.stream().map(ParameterServer::localAddress).toList());
        mount.join();
        other.join();
    }

    private StripedModel connect(String learner, List<InetSocketAddress> shards) throws IOException {
        StripedModel model = StripedModel.connect(new StripedModelContext(new ModelAddress(shards, "m"))
            .learner(learner).sessions(session -> session.commandTimeout(Duration.ofSeconds(2)))
            .reconnectTimeout(Duration.ofSeconds(20)));
        models.add(model);
        return model;
    }

    private StripedModel connectThroughPaths() throws IOException {
        return connect("mount", paths.stream().map(NetworkPath::address).toList());
    }

    private void set(NetworkPath.State state) {
        paths.forEach(path -> path.state(state));
    }

    private void push(StripedModel model) throws IOException {
        model.push(0, memory, 0, SIZE, Cancellation.NONE);
    }

    /** Ends the process of the mount in the middle of a push. Returns the state that it saves. */
    private SessionsImage end(CompletableFuture<Void> push, Cancellation cancellation) {
        cancellation.cancel();
        assertThatThrownBy(() -> push.get(30, TimeUnit.SECONDS)).isNotNull();
        SessionsImage image = mount.learnerImage();
        set(NetworkPath.State.DOWN);
        models.remove(mount);
        mount.close();
        return image;
    }

    /** Stops all shards, starts them again, and starts the next process of the mount. */
    private void restart(SessionsImage image) throws IOException {
        List<CompletableFuture<Void>> stops = servers.stream().map(server -> Roles.start(server::stop)).toList();
        stops.forEach(stop -> stop.orTimeout(60, TimeUnit.SECONDS).join());
        models.remove(other);
        other.close();
        serve(Duration.ofSeconds(60));
        for (int i = 0; i < SHARDS; i++) {
            paths.get(i).moveTo(servers.get(i).localAddress());
        }
        set(NetworkPath.State.UP);
        mount = connectThroughPaths();
        mount.resumeLearner(image, false);
        other = connect("other", servers.stream().map(ParameterServer::localAddress).toList());
        other.join();
    }

    private void assertWeights(float expected) throws IOException {
        try (DataMemory weights = DataMemory.allocate(SIZE)) {
            other.read(0, weights, 0, SIZE, Cancellation.NONE);
            assertThat(weights.slab(0).asSlice(0, SIZE).toArray(ValueLayout.JAVA_FLOAT)).containsOnly(expected);
        }
    }

    @Test
    void pushThatCountedBeforeTheStopSucceedsWhenItIsRepeatedAfterTheStart() throws Exception {
        begin(Duration.ofSeconds(60));
        push(mount);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> second = Roles.start(() -> mount.push(0, memory, 0, SIZE, cancellation));
        await("the push of round 2 waits for round 1",
            () -> servers.stream().mapToInt(server -> server.shard().consistency().waiting()).sum() == 4);
        set(NetworkPath.State.SILENT);
        push(other);
        push(other);
        other.pull(0, memory, 0, SIZE, Cancellation.NONE);
        fill();
        SessionsImage image = end(second, cancellation);
        restart(image);
        push(mount);
        assertWeights(2);
        assertThat(mount.nextRound()).isEqualTo(3);
        push(mount);
        push(other);
        assertWeights(3);
    }

    @Test
    void pushOfARoundThatClosedWithoutItFailsOnceAfterTheStart() throws Exception {
        begin(Duration.ofMillis(500));
        set(NetworkPath.State.SILENT);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> first = Roles.start(() -> mount.push(0, memory, 0, SIZE, cancellation));
        push(other);
        SessionsImage image = end(first, cancellation);
        await("the lease of the mount has expired",
            () -> servers.stream().allMatch(server -> server.shard().consistency().rounds(0) == 1));
        restart(image);
        assertThatThrownBy(() -> push(mount)).isInstanceOfSatisfying(ShardException.class,
            failure -> assertThat(failure.kind()).isEqualTo(ShardException.Kind.LEARNER_FORGOTTEN))
            .hasMessageContaining("may count once or not at all");
        assertThatThrownBy(() -> push(mount)).isInstanceOf(ShardException.class);
        assertWeights(1);
        mount.goOn();
        push(mount);
        push(other);
        assertWeights(2);
    }
}
