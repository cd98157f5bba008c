package io.modeldisk.striping;

import static io.modeldisk.striping.FakeShards.assertShardFailed;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.scsi.AccessState;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests how a model behaves while another process serves a shard, so the process at the known address is not active. */
@Timeout(60)
class AccessStateTest extends ShardsFixture {
    @BeforeEach
    void serve() throws IOException {
        serveOverPath(Duration.ofSeconds(10));
    }

    private void become(AccessState own) {
        shards.shards.getFirst().portGroups.become(own);
    }

    private void awaitEnd(CompletableFuture<Void> call) {
        advanceUntil("the call has ended", Duration.ofMillis(50), call::isDone);
    }

    private void assertTriesAgainUntilActive(FakeShards.Call call) throws Exception {
        int before = path.connections();
        CompletableFuture<Void> done = FakeShards.async(call);
        advanceUntil("the model has connected several times", Duration.ofMillis(50),
            () -> path.connections() > before + 3 || done.isDone());
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
        shards.parking(true);
        CompletableFuture<Void> push = FakeShards.async(() -> model.push(0, memory, 0, MIB, Cancellation.NONE));
        await("pushes are parked", () -> shards.parkings() > 0);
        become(AccessState.STANDBY);
        await("no push is parked", () -> shards.parked() == 0);
        shards.parking(false);
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
            .cause().satisfies(e -> assertShardFailed(e, ShardException.Kind.PATH_LOST, 0))
            .hasMessageContaining("state of its port group is standby")
            .hasMessageContaining("reconnecting failed for 10000 ms");
    }

    @Test
    void statusOfAStandbyCanBeRead() throws IOException {
        become(AccessState.STANDBY);
        assertThat(model.status()).isNotEmpty();
    }
}
