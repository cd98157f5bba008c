package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.ShardLocator;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A shard that loses its permission to serve, and a mount that follows a shard to another process. */
@Timeout(60)
final class PermissionToServeTest {
    private static final int SIZE = 4096;

    private static ParameterServer serve(BooleanSupplier mayServe) throws IOException {
        return ParameterServer
            .launch(new ServerContext().consistency("asp").model("m").sizeBytes(SIZE).blockSizeBytes(SIZE)
                .listen(new InetSocketAddress("127.0.0.1", 0)).aggregator("sum", Aggregators.parse("sum"))
                .mayServe(mayServe));
    }

    private static StripedModel connect(ShardLocator locator, Duration reconnectTimeout) throws IOException {
        return StripedModel.connect(new StripedModelContext(locator).learner("l").reconnectTimeout(reconnectTimeout));
    }

    private static ModelAddress address(ParameterServer server) {
        return new ModelAddress(List.of(server.localAddress()), "m");
    }

    private static void push(StripedModel model, DataMemory memory) throws IOException {
        memory.slab(0).set(ValueLayout.JAVA_FLOAT, 0, 1f);
        model.push(0, memory, 0, SIZE, Cancellation.NONE);
    }

    private static float weight(StripedModel model, DataMemory memory) throws IOException {
        model.read(0, memory, 0, SIZE, Cancellation.NONE);
        return memory.slab(0).get(ValueLayout.JAVA_FLOAT, 0);
    }

    @Test
    void pushWithoutPermissionIsNotAcknowledgedAndCountsOnceWhenRepeated() throws Exception {
        AtomicBoolean mayServe = new AtomicBoolean(true);
        try (ParameterServer server = serve(mayServe::get);
            DataMemory memory = DataMemory.allocate(SIZE);
            StripedModel model = connect(address(server), Duration.ZERO)) {
            push(model, memory);
            mayServe.set(false);
            assertThatThrownBy(() -> push(model, memory)).isInstanceOfSatisfying(ShardException.class,
                e -> assertThat(e.kind()).isEqualTo(ShardException.Kind.PATH_LOST));
            mayServe.set(true);
            push(model, memory);
            assertThat(weight(model, memory)).isEqualTo(2f);
        }
    }

    /** Returns a locator of one shard, which no process serves while {@code place} returns null. */
    private static ShardLocator locator(Supplier<ModelAddress> place, AtomicReference<IntConsumer> moved) {
        return new ShardLocator() {
            @Override
            public String model() {
                return "m";
            }

            @Override
            public int shardCount() {
                return 1;
            }

            @Override
            public InetSocketAddress portal(int shard) throws ShardException {
                ModelAddress now = place.get();
                if (now == null) {
                    throw new ShardException(ShardException.Kind.PATH_LOST, new ShardId(shard, "nowhere"),
                        "not served");
                }
                return now.portal(shard);
            }

            @Override
            public boolean shardsMove() {
                return true;
            }

            @Override
            public void onMove(IntConsumer action) {
                moved.set(action);
            }
        };
    }

    @Test
    void connectionWaitsUntilAProcessServesTheShard() throws Exception {
        ShardLocator nowhere = locator(() -> null, new AtomicReference<>());
        assertThatThrownBy(() -> connect(nowhere, Duration.ofMillis(20))).hasMessageContaining("not served");
        AtomicInteger asked = new AtomicInteger();
        try (ParameterServer server = serve(() -> true)) {
            ShardLocator late = locator(() -> asked.incrementAndGet() < 3 ? null : address(server),
                new AtomicReference<>());
            connect(late, Duration.ofSeconds(30)).close();
        }
    }

    @Test
    void sessionsFollowAShardThatHasMoved() throws Exception {
        AtomicReference<ModelAddress> place = new AtomicReference<>();
        AtomicReference<IntConsumer> moved = new AtomicReference<>();
        ShardLocator locator = locator(place::get, moved);
        try (ParameterServer first = serve(() -> true);
            ParameterServer second = serve(() -> true);
            DataMemory memory = DataMemory.allocate(SIZE)) {
            place.set(address(first));
            try (StripedModel model = connect(locator, Duration.ofSeconds(30))) {
                assertThat(weight(model, memory)).isEqualTo(0f);
                place.set(address(second));
                moved.get().accept(0);
                push(model, memory);
                await("reads also go to the other process", () -> weight(model, memory) == 1f);
            }
        }
    }
}
