package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A follower and a learner of a model with two shards in bsp. */
@Timeout(60)
class AwaitCommandTest {
    private static final int BLOCK = 4096;
    private static final int SIZE = 4 * BLOCK;

    private final List<ParameterServer> servers = new ArrayList<>();
    private final DataMemory gradient = allocate();
    private ModelAddress address;
    private StripedModel learner;
    private StripedModel follower;

    private static DataMemory allocate() {
        try {
            return DataMemory.allocateShareable(SIZE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @BeforeEach
    void serve() throws IOException {
        List<InetSocketAddress> ports = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            servers.add(ParameterServer.launch(new ServerContext().model("test").blockSizeBytes(BLOCK).sizeBytes(SIZE)
                .shard(i).shards(2).aggregator("sum", new SumAggregator()).consistency("bsp").learners(1)
                .listen(new InetSocketAddress("127.0.0.1", 0))));
            ports.add(servers.get(i).localAddress());
        }
        address = new ModelAddress(ports, "test");
        learner = StripedModel.connect(new StripedModelContext(address).learner("learner"));
        follower = StripedModel.connect(new StripedModelContext(address).learner("reader").follower(true)
            .sizes(datamover -> TransferSizes.DEFAULTS.withQueueDepth(1)));
    }

    @AfterEach
    void close() {
        learner.close();
        follower.close();
        servers.forEach(ParameterServer::close);
        gradient.close();
    }

    private void push(int firstBlock, int blocks) throws IOException {
        learner.push((long) firstBlock * BLOCK, gradient, 0, (long) blocks * BLOCK, Cancellation.NONE);
    }

    private CompletableFuture<ShardCounters> awaitOther(long known, Cancellation cancellation) {
        CompletableFuture<ShardCounters> result = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                ShardCounters now = follower.awaitVersion(known, cancellation);
                while (now.minVersion() == known) {
                    now = follower.awaitVersion(known, cancellation);
                }
                result.complete(now);
            } catch (IOException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    @Test
    void waitEndsWhenTheRoundIsCompleteInAllBlocksOfAllShards() throws Exception {
        CompletableFuture<ShardCounters> next = awaitOther(0, new Cancellation());
        push(0, 3);
        assertThat(follower.awaitVersion(AwaitCommand.NONE, Cancellation.NONE).minVersion()).isZero();
        assertThat(next).isNotDone();
        push(3, 1);
        assertThat(next.get().minVersion()).isEqualTo(1);
        assertThat(follower.awaitVersion(0, Cancellation.NONE).minVersion()).isEqualTo(1);
    }

    @Test
    void versionCanBeReadWhileAnotherCallWaits() throws Exception {
        push(0, 4);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<ShardCounters> next = awaitOther(1, cancellation);
        for (int i = 0; i < 20; i++) {
            assertThat(follower.awaitVersion(AwaitCommand.NONE, Cancellation.NONE).minVersion()).isEqualTo(1);
            follower.pull(0, gradient, 0, SIZE, Cancellation.NONE);
        }
        assertThat(next).isNotDone();
        cancellation.cancel();
        await("the call was cancelled", next::isCompletedExceptionally);
    }

    @Test
    void followerDelaysNoRound() throws Exception {
        follower.pull(0, gradient, 0, SIZE, Cancellation.NONE);
        CompletableFuture<ShardCounters> next = awaitOther(0, new Cancellation());
        for (int i = 1; i <= 9; i++) {
            push(0, 4);
            learner.synchronize(Cancellation.NONE);
        }
        assertThat(next.get().minVersion()).isBetween(1L, 9L);
        assertThat(follower.awaitVersion(AwaitCommand.NONE, Cancellation.NONE).minVersion()).isEqualTo(9);
        for (ParameterServer server : servers) {
            var status = new ObjectMapper().readTree(server.shard().status());
            assertThat(status.path("followers").asInt()).isEqualTo(1);
            assertThat(status.path("learners").findValuesAsText("learner")).containsExactly("learner");
        }
        follower.close();
        await("the shard no longer counts the follower", () -> new ObjectMapper()
            .readTree(servers.getFirst().shard().status()).path("followers").asInt() == 0);
        follower = StripedModel.connect(new StripedModelContext(address).learner("reader").follower(true));
    }

    @Test
    void shardThatRestartsWithoutStateHasANewHistory() throws Exception {
        ShardCounters before = follower.awaitVersion(AwaitCommand.NONE, Cancellation.NONE);
        assertThat(before.history()).isEqualTo(follower.awaitVersion(AwaitCommand.NONE, Cancellation.NONE).history())
            .isNotZero();
        InetSocketAddress port = servers.get(1).localAddress();
        servers.get(1).close();
        servers.set(1, ParameterServer.launch(new ServerContext().model("test").blockSizeBytes(BLOCK).sizeBytes(SIZE)
            .shard(1).shards(2).aggregator("sum", new SumAggregator()).consistency("bsp").learners(1).listen(port)));
        assertThat(follower.awaitVersion(AwaitCommand.NONE, Cancellation.NONE).history())
            .isNotEqualTo(before.history());
    }
}
