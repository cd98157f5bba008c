package io.modeldisk.striping;

import static io.modeldisk.striping.FakeShards.assertShardFailed;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.test.NetworkPath;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how a model reconnects to a shard after a restart and after a silent outage of the network. */
@Timeout(60)
class ReconnectTest extends ShardsFixture {
    private void pull() throws IOException {
        model.pull(0, memory, 0, BLOCK, Cancellation.NONE);
    }

    private static void useLongTimeouts(StripedModelContext context) {
        context.reconnectTimeout(Duration.ofSeconds(10))
            .sessions(session -> session.commandTimeout(Duration.ofSeconds(30)));
    }

    @Test
    void pullFailsWhenAReconnectReachesAnotherShard() throws IOException {
        serve(FakeShards.of(4 * MIB, BLOCK, 2), ReconnectTest::useLongTimeouts);
        pull();
        shards.swap(0, 1);
        assertThatThrownBy(this::pull).satisfies(e -> assertShardFailed(e, ShardException.Kind.WRONG_SHARD, 0))
            .hasMessageContaining("serves shard 1 of model fake, but shard 0 was expected");
    }

    @Test
    void pullFailsWhenAReconnectReachesAnotherModelOfTheSameName() throws IOException {
        serve(FakeShards.of(4 * MIB, BLOCK, 1), ReconnectTest::useLongTimeouts);
        shards.shards.getFirst().page = FakeShards.facts(8 * MIB, BLOCK, 0, 1).toJson();
        shards.restart(0);
        assertThatThrownBy(this::pull).satisfies(e -> assertShardFailed(e, ShardException.Kind.MODEL_CHANGED, 0))
            .hasMessageContaining("its size is 8388608, but it was 4194304 when this process connected");
    }

    @Test
    void pushSucceedsAfterAnOutageShorterThanTheReconnectTimeout() throws Exception {
        serveOverPath(Duration.ofMinutes(10));
        model.join();
        path.state(NetworkPath.State.SILENT);
        CompletableFuture<Void> push = FakeShards.async(() -> model.push(0, memory, 0, MIB, Cancellation.NONE));
        // The command timeout of 30 s closes the learner's session. The target does not respond to later logins.
        advanceUntil("the model connects again after its session was closed", Duration.ofSeconds(1),
            () -> path.connections() > 2 || push.isDone());
        assertThat(push).isNotDone();
        path.state(NetworkPath.State.UP);
        advanceUntil("the push has returned", Duration.ofMillis(10), push::isDone);
        push.get(10, TimeUnit.SECONDS);
    }

    @Test
    void pushThatFailedBeforeTheShardForgotTheLearnerIsNotRepeatedSilently() throws Exception {
        serve(FakeShards.of(4 * BLOCK, BLOCK, 2), ReconnectTest::useLongTimeouts);
        model.join();
        shards.parking(true);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> push = FakeShards.async(() -> model.push(0, memory, 0, 4 * BLOCK, cancellation));
        await("commands of the push wait in the shard", () -> !shards.shards.get(0).parked.isEmpty());
        cancellation.cancel();
        assertThatThrownBy(() -> push.get(30, TimeUnit.SECONDS)).isNotNull();
        shards.parking(false);
        shards.forget(0);
        await("the model reports that the shard has forgotten the learner", () -> {
            try {
                model.push(0, memory, 0, 4 * BLOCK, Cancellation.NONE);
                throw new AssertionError("the push was repeated silently");
            } catch (ShardException e) {
                return e.kind() == ShardException.Kind.LEARNER_FORGOTTEN;
            } catch (IOException e) {
                return false;
            }
        });
        model.goOn();
        model.push(0, memory, 0, 4 * BLOCK, Cancellation.NONE);
    }

    @Test
    void pullFailsAfterAnOutageLongerThanTheReconnectTimeout() throws Exception {
        serveOverPath(Duration.ofSeconds(10));
        path.state(NetworkPath.State.SILENT);
        CompletableFuture<Void> pull = FakeShards.async(this::pull);
        advanceUntil("the pull has failed", Duration.ofSeconds(1), pull::isDone);
        assertThatThrownBy(pull::get).cause()
            .satisfies(e -> assertShardFailed(e, ShardException.Kind.PATH_LOST, 0))
            .hasMessageContaining("reconnecting failed for 10000 ms");
    }
}
