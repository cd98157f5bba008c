package io.modeldisk.striping;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.test.ManualClock;
import io.modeldisk.test.NetworkPath;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests how a model behaves while another process serves a shard, so the process at the known address is not active. */
@Timeout(60)
class AccessStateTest {
    private static final int MIB = 1 << 20;
    private static final Duration RECONNECT_TIMEOUT = Duration.ofSeconds(10);

    private final ManualClock clock = new ManualClock();
    private final DataMemory memory = DataMemory.allocate(MIB);
    private FakeShards shards;
    private NetworkPath path;
    private StripedModel model;

    @BeforeEach
    void serve() throws IOException {
        shards = FakeShards.of(MIB, 16384, 1);
        path = new NetworkPath(shards.servers.getFirst().localAddress().getPort());
        model = StripedModel
            .connect(new StripedModelContext(new ModelAddress(List.of(path.address()), FakeShards.MODEL))
                .learner("tester").reconnectTimeout(RECONNECT_TIMEOUT).sessions(session -> session.clock(clock)));
    }

    @AfterEach
    void end() throws IOException {
        model.close();
        path.close();
        shards.close();
        memory.close();
    }

    private void become(AccessState own) {
        shards.shards.getFirst().portGroups.become(own);
    }

    private void awaitEnd(CompletableFuture<Void> call) {
        await("the call has ended", () -> {
            clock.advance(Duration.ofMillis(50));
            return call.isDone();
        });
    }

    private void assertTriesAgainUntilActive(FakeShards.Call call) throws Exception {
        int before = path.connections();
        CompletableFuture<Void> done = FakeShards.async(call);
        await("the model has connected several times", () -> {
            clock.advance(Duration.ofMillis(50));
            return path.connections() > before + 3 || done.isDone();
        });
        assertThat(done).isNotDone();
        become(AccessState.ACTIVE);
        awaitEnd(done);
        done.get(10, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "ACTIVE")
    void pushIsSentAgainUntilTheShardIsActive(AccessState state) throws Exception {
        model.join();
        become(state);
        assertTriesAgainUntilActive(() -> model.push(0, memory, 0, MIB, Cancellation.NONE));
    }

    @Test
    void parkedPushIsSentAgainAfterTheShardWasStandby() throws Exception {
        model.join();
        shards.shards.getFirst().parking = true;
        CompletableFuture<Void> push = FakeShards.async(() -> model.push(0, memory, 0, MIB, Cancellation.NONE));
        await("pushes are parked", () -> shards.shards.getFirst().parkings.get() > 0);
        become(AccessState.STANDBY);
        await("no push is parked", () -> shards.shards.getFirst().parked.isEmpty());
        shards.shards.getFirst().parking = false;
        become(AccessState.ACTIVE);
        awaitEnd(push);
        push.get(10, TimeUnit.SECONDS);
    }

    @Test
    void readIsSentAgainUntilTheShardIsActive() throws Exception {
        awaitEnd(FakeShards.async(() -> model.pull(0, memory, 0, 4096, Cancellation.NONE)));
        become(AccessState.STANDBY);
        assertTriesAgainUntilActive(() -> model.pull(0, memory, 0, MIB, Cancellation.NONE));
    }

    @Test
    void joinIsSentAgainUntilTheShardIsActive() throws Exception {
        become(AccessState.STANDBY);
        assertTriesAgainUntilActive(model::join);
    }

    @Test
    void readFailsIfTheShardIsStandbyForLongerThanTheReconnectTimeout() {
        become(AccessState.STANDBY);
        CompletableFuture<Void> pull = FakeShards.async(() -> model.pull(0, memory, 0, MIB, Cancellation.NONE));
        awaitEnd(pull);
        assertThatThrownBy(() -> pull.get(10, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class)
            .cause().isInstanceOfSatisfying(ShardException.class,
                e -> assertThat(e.kind()).isEqualTo(ShardException.Kind.PATH_LOST))
            .hasMessageContaining("state of its port group is standby")
            .hasMessageContaining("reconnecting failed for 10000 ms");
    }

    @Test
    void statusOfAStandbyCanBeRead() throws IOException {
        become(AccessState.STANDBY);
        assertThat(model.status()).isNotEmpty();
    }
}
