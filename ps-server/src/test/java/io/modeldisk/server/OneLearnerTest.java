package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.SessionsImage;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import io.modeldisk.test.NetworkPath;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two mounts that use the same learner name, at a model with two shards. */
@Timeout(60)
class OneLearnerTest {
    private static final int SIZE = 8192;
    private static final int PUSHES = 10;
    private static final Duration LEASE = Duration.ofSeconds(5);

    private final List<ParameterServer> servers = new ArrayList<>();
    private final List<NetworkPath> paths = new ArrayList<>();
    private final DataMemory memory = DataMemory.allocate(SIZE);

    @BeforeEach
    void serve() throws IOException {
        for (int i = 0; i < 2; i++) {
            servers.add(ParameterServer
                .launch(new ServerContext().consistency("asp").model("m").sizeBytes(SIZE).blockSizeBytes(4096)
                    .shard(i).shards(2).aggregator("sum", new SumAggregator()).learners(1).lease(LEASE)
                    .listen(new InetSocketAddress("127.0.0.1", 0))));
            paths.add(new NetworkPath(servers.get(i).localAddress().getPort()));
        }
        Weights.fill(memory.segment(0, SIZE), 1);
    }

    @AfterEach
    void close() throws IOException {
        for (NetworkPath path : paths) {
            path.close();
        }
        servers.forEach(ParameterServer::close);
        memory.close();
    }

    private static StripedModel connect(List<InetSocketAddress> shards, String learner) throws IOException {
        return StripedModel.connect(new StripedModelContext(new ModelAddress(shards, "m")).learner(learner));
    }

    private StripedModel connect(String learner) throws IOException {
        return connect(servers.stream().map(ParameterServer::localAddress).toList(), learner);
    }

    private StripedModel connectThroughPaths(String learner) throws IOException {
        return connect(paths.stream().map(NetworkPath::address).toList(), learner);
    }

    private void push(StripedModel model, int times) throws IOException {
        for (int i = 0; i < times; i++) {
            model.push(0, memory, 0, SIZE, Cancellation.NONE);
        }
    }

    private void assertWeights(float expected) throws IOException {
        try (StripedModel reader = connect("reader"); DataMemory weights = DataMemory.allocate(SIZE)) {
            reader.read(0, weights, 0, SIZE, Cancellation.NONE);
            for (int i = 0; i < SIZE; i += 4096) {
                assertThat(weights.slab(0).get(ValueLayout.JAVA_FLOAT, i)).isEqualTo(expected);
            }
        }
    }

    private List<Learner> members(int shard) {
        return servers.get(shard).shard().learners().roster().members();
    }

    @Test
    void secondMountWithTheSameNameIsRefusedWithTheHostOfTheFirst() throws IOException {
        try (StripedModel first = connect("seven"); StripedModel second = connect("Seven")) {
            push(first, 1);
            assertThatThrownBy(() -> push(second, 1)).isInstanceOfSatisfying(ShardException.class, refusal -> {
                assertThat(refusal.kind()).isEqualTo(ShardException.Kind.NAME_IN_USE);
                assertThat(refusal).hasMessageContaining(
                    "another mount with this name is connected from 127.0.0.1; unmount it there, or give this mount a"
                        + " different --learner");
            });
            push(first, PUSHES - 1);
            assertThat(members(0)).hasSize(1);
        }
        assertWeights(PUSHES);
    }

    @Test
    void restartedMountReplacesTheLearnerWhoseConnectionIsLost() throws IOException {
        StripedModel first = connectThroughPaths("seven");
        push(first, PUSHES);
        long before = members(0).getFirst().number();
        for (NetworkPath path : paths) {
            path.state(NetworkPath.State.DOWN);
        }
        try (StripedModel second = connect("seven")) {
            push(second, PUSHES);
            for (int i = 0; i < 2; i++) {
                assertThat(members(i)).as("learners of shard " + i).hasSize(1);
            }
            assertThat(members(0).getFirst().number()).isNotEqualTo(before);
            for (NetworkPath path : paths) {
                path.state(NetworkPath.State.UP);
            }
            assertThatThrownBy(() -> push(first, 1)).as("a push of the mount that was replaced").isInstanceOfSatisfying(
                ShardException.class,
                refusal -> assertThat(refusal.kind()).isEqualTo(ShardException.Kind.NAME_IN_USE));
            push(second, PUSHES);
            assertWeights(3 * PUSHES);
        }
        first.close();
    }

    @Test
    void nameOfAMountThatLeavesIsFreeForTheNextMount() throws IOException {
        try (StripedModel second = connect("seven")) {
            try (StripedModel first = connect("seven")) {
                push(first, PUSHES);
                first.leave();
                push(second, PUSHES);
            }
            push(second, PUSHES);
        }
        assertWeights(3 * PUSHES);
    }

    @Test
    void nextProcessOfAMountContinuesAsTheSameLearner() throws IOException {
        StripedModel first = connectThroughPaths("seven");
        push(first, PUSHES);
        SessionsImage image = first.learnerImage();
        Learner before = members(0).getFirst();
        try (StripedModel successor = connect("seven")) {
            successor.resumeLearner(image, false);
            assertThat(successor.nextRound()).isEqualTo(PUSHES + 1);
            push(successor, PUSHES);
            assertThat(members(0)).as("the learner of the previous process").containsExactly(before);
        }
        assertWeights(2 * PUSHES);
        first.close();
    }

    @Test
    void eachMountHasItsOwnRandomIsids() throws IOException {
        try (StripedModel one = connect("one"); StripedModel two = connect("two")) {
            one.join();
            two.join();
            List<Long> isids = members(0).stream().map(learner -> learner.key().isid()).toList();
            assertThat(isids).doesNotHaveDuplicates().allMatch(isid -> isid >> 46 == 0b10);
        }
    }

    @Test
    void halfOpenConnectionReservesTheNameAtMostForTheLease() throws IOException {
        StripedModel first = connectThroughPaths("seven");
        push(first, PUSHES);
        for (NetworkPath path : paths) {
            path.state(NetworkPath.State.SILENT);
        }
        try (StripedModel second = connect("seven")) {
            assertThatThrownBy(second::join).isInstanceOf(ShardException.class);
            await("the shards notice the silence", Duration.ofSeconds(40), () -> joins(second));
            push(second, PUSHES);
        }
        assertWeights(2 * PUSHES);
        for (NetworkPath path : paths) {
            path.state(NetworkPath.State.DOWN);
        }
        first.close();
    }

    private static boolean joins(StripedModel model) {
        try {
            model.join();
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
