package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.fake.MovingAddress;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A learner that is silent for longer than its lease, in the middle of a gradient. */
@Timeout(120)
final class ForgottenLearnerTest {
    private static final int BLOCK = 16384;
    private static final int BLOCKS = 8;
    private static final int SIZE = BLOCKS * BLOCK;

    private static StripedModel connect(InetSocketAddress address, String label) throws IOException {
        return StripedModel.connect(new StripedModelContext(new ModelAddress(List.of(address), "m")).learner(label)
            .reconnectTimeout(Duration.ofSeconds(60)));
    }

    private static void push(StripedModel model, DataMemory ones, int from, int to) throws IOException {
        model.push((long) from * BLOCK, ones, 0, (long) (to - from) * BLOCK, Cancellation.NONE);
    }

    /** Pushes and pulls whole gradients. */
    private static void train(StripedModel model, DataMemory ones, DataMemory weights, int rounds) {
        try {
            for (int i = 0; i < rounds; i++) {
                push(model, ones, 0, BLOCKS);
                model.pull(0, weights, 0, SIZE, Cancellation.NONE);
            }
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    private static float[] firstOfEachBlock(DataMemory weights) {
        float[] values = new float[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            values[i] = weights.slab(0).get(ValueLayout.JAVA_FLOAT, (long) i * BLOCK);
        }
        return values;
    }

    @Test
    void bspLearnerThatIsForgottenInTheMiddleOfAGradientPushesTheNextOnesInTheSameRoundToAllBlocks() throws Exception {
        try (
            ServerSocket nowhere = new ServerSocket(0, 1);
            ParameterServer server = ParameterServer
                .launch(new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(BLOCK)
                    .listen(new InetSocketAddress("127.0.0.1", 0)).aggregator("sum", Aggregators.parse("sum"))
                    .consistency("bsp")
                    .learners(2).lease(Duration.ofSeconds(1)));
            MovingAddress address = new MovingAddress(server.localAddress());
            DataMemory ones = DataMemory.allocate(SIZE);
            DataMemory before = DataMemory.allocate(SIZE);
            DataMemory after = DataMemory.allocate(SIZE);
            DataMemory others = DataMemory.allocate(SIZE);
            StripedModel silent = connect(address.address(), "silent");
            StripedModel other = connect(server.localAddress(), "other")) {
            for (long at = 0; at < SIZE; at += Float.BYTES) {
                ones.slab(0).set(ValueLayout.JAVA_FLOAT, at, 1);
            }
            silent.join();
            other.join();
            CompletableFuture<Void> first = CompletableFuture.runAsync(() -> train(other, ones, others, 1));
            train(silent, ones, before, 1);
            first.get(60, TimeUnit.SECONDS);

            push(silent, ones, 0, BLOCKS / 2);
            address.moveTo(new InetSocketAddress("127.0.0.1", nowhere.getLocalPort()));
            // This round is complete when the lease of the silent learner has expired.
            train(other, ones, others, 1);
            address.moveTo(server.localAddress());

            assertThatThrownBy(() -> push(silent, ones, BLOCKS / 2, BLOCKS)).isInstanceOfSatisfying(
                ShardException.class,
                failure -> assertThat(failure.kind()).isEqualTo(ShardException.Kind.LEARNER_FORGOTTEN));
            silent.goOn();
            other.read(0, before, 0, SIZE, Cancellation.NONE);
            CompletableFuture<Void> rest = CompletableFuture.runAsync(() -> train(other, ones, others, 4));
            train(silent, ones, after, 4);
            rest.get(60, TimeUnit.SECONDS);
            other.read(0, after, 0, SIZE, Cancellation.NONE);

            float[] old = firstOfEachBlock(before);
            float[] now = firstOfEachBlock(after);
            for (int i = 1; i < BLOCKS; i++) {
                assertThat(now[i] - old[i]).as("block %d", i).isEqualTo(now[0] - old[0]).isPositive();
            }
        }
    }

    private static ParameterServer launch(int shard, int port) throws IOException {
        return ParameterServer
            .launch(new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(BLOCK).shard(shard).shards(2)
                .listen(new InetSocketAddress("127.0.0.1", port)).aggregator("sum", Aggregators.parse("sum"))
                .consistency("bsp")
                .learners(2));
    }

    private static void assertWentBack(StripedModel model, DataMemory ones, int from, int to) {
        assertThatThrownBy(() -> push(model, ones, from, to)).isInstanceOfSatisfying(ShardException.class,
            failure -> assertThat(failure.kind()).isEqualTo(ShardException.Kind.WENT_BACK));
        model.goOn();
    }

    @Test
    void bspLearnersInDifferentRoundsGoOnTogetherAfterAShardHasGoneBack() throws Exception {
        ParameterServer first = launch(0, 0);
        int port = first.localAddress().getPort();
        try (ParameterServer second = launch(1, 0);
            DataMemory ones = DataMemory.allocate(SIZE);
            DataMemory weights = DataMemory.allocate(SIZE);
            DataMemory others = DataMemory.allocate(SIZE)) {
            ModelAddress address = new ModelAddress(List.of(first.localAddress(), second.localAddress()), "m");
            try (StripedModel ahead = StripedModel.connect(new StripedModelContext(address).learner("ahead"));
                StripedModel behind = StripedModel.connect(new StripedModelContext(address).learner("behind"))) {
                ahead.join();
                behind.join();
                CompletableFuture<Void> begin = CompletableFuture.runAsync(() -> train(behind, ones, others, 2));
                train(ahead, ones, weights, 2);
                begin.get(60, TimeUnit.SECONDS);
                // A block of the shard that does not go back.
                push(ahead, ones, 1, 2);
                first.close();
                first = launch(0, port);
                assertWentBack(ahead, ones, 2, 3);
                assertWentBack(behind, ones, 0, BLOCKS);
                CompletableFuture<Void> rest = CompletableFuture.runAsync(() -> train(behind, ones, others, 3));
                train(ahead, ones, weights, 2);
                ahead.leave();
                rest.get(60, TimeUnit.SECONDS);
            }
        } finally {
            first.close();
        }
    }
}
