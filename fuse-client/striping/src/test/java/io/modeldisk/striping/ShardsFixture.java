package io.modeldisk.striping;

import static io.modeldisk.test.Await.await;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.test.ManualClock;
import io.modeldisk.test.NetworkPath;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;

/** The base class of tests that open shards in this process, and a model that is connected to them. */
abstract class ShardsFixture {
    static final int BLOCK = 16384;
    static final int MIB = 1 << 20;

    final DataMemory memory = DataMemory.allocate(8 * MIB);
    final ManualClock clock = new ManualClock();
    FakeShards shards;
    NetworkPath path;
    StripedModel model;

    @AfterEach
    void end() throws IOException {
        if (path != null) {
            path.close();
        }
        if (model != null) {
            model.close();
        }
        if (shards != null) {
            shards.close();
        }
        memory.close();
    }

    static StripedModelContext context(ModelAddress address) {
        return new StripedModelContext(address).learner("tester")
            .sessions(session -> session.commandTimeout(Duration.ofSeconds(5)))
            .reconnectTimeout(Duration.ofMillis(500));
    }

    void serve(long bytes, int count) throws IOException {
        serve(FakeShards.of(bytes, BLOCK, count), _ -> {});
    }

    /** Connects to these shards. {@code settings} can change the configuration of the connection. */
    void serve(FakeShards opened, Consumer<StripedModelContext> settings) throws IOException {
        shards = opened;
        StripedModelContext context = context(shards.address());
        settings.accept(context);
        model = StripedModel.connect(context);
    }

    /** Serves one shard of 1 MiB, and connects to it over {@link #path}, with {@link #clock} for all timeouts. */
    void serveOverPath(Duration reconnectTimeout) throws IOException {
        shards = FakeShards.of(MIB, BLOCK, 1);
        path = new NetworkPath(shards.servers.getFirst().localAddress().getPort());
        model = StripedModel
            .connect(new StripedModelContext(new ModelAddress(List.of(path.address()), FakeShards.MODEL))
                .learner("tester").reconnectTimeout(reconnectTimeout).sessions(session -> session.clock(clock)));
    }

    /** Advances the clock in steps until the condition is true. */
    void advanceUntil(String message, Duration step, BooleanSupplier condition) {
        await(message, () -> {
            clock.advance(step);
            return condition.getAsBoolean();
        });
    }

    /** Returns whether a push of four blocks succeeds. */
    boolean pushes() {
        try {
            model.push(0, memory, 0, 4 * BLOCK, Cancellation.NONE);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
