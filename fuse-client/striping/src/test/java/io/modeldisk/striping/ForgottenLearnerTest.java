package io.modeldisk.striping;

import static io.modeldisk.striping.FakeShards.assertShardFailed;
import static io.modeldisk.striping.FakeShards.async;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.ShardException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a learner that shards forget, and shards that go back to earlier weights. */
@Timeout(60)
class ForgottenLearnerTest extends ShardsFixture {
    private void serveBsp() throws IOException {
        serve(new FakeShards(UnaryOperator.identity(), FakeShards.facts(8 * BLOCK, BLOCK, 0, 2, "bsp"),
            FakeShards.facts(8 * BLOCK, BLOCK, 1, 2, "bsp")), _ -> {});
        model.join();
        model.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
    }

    @Test
    void pushInFlightFailsWhenItsShardForgetsTheLearner() throws Exception {
        serve(4 * MIB, 2);
        model.join();
        shards.parking(true);
        CompletableFuture<Void> push = async(() -> model.push(0, memory, 0, 4 * MIB, Cancellation.NONE));
        await("a command of the push waits in the shard", () -> !shards.shards.get(1).parked.isEmpty());
        shards.parking(false);
        shards.forget(1);
        shards.restart(0);
        assertThatThrownBy(() -> push.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(IOException.class)
            .hasMessageContaining("has forgotten this learner").hasMessageContaining("may count once or not").cause()
            .satisfies(failed -> assertShardFailed(failed, ShardException.Kind.LEARNER_FORGOTTEN, 1));
        model.goOn();
        model.push(0, memory, 0, 4 * MIB, Cancellation.NONE);
    }

    /** Fails a push of the whole model whose commands wait in the shards, so the result of each command is unknown. */
    private void failPush() throws Exception {
        shards.parking(true);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> push = async(() -> model.push(0, memory, 0, 8 * BLOCK, cancellation));
        await("all commands of the push wait in the shards", () -> shards.parked() == 8);
        cancellation.cancel();
        assertThatThrownBy(() -> push.get(30, TimeUnit.SECONDS)).isNotNull();
        shards.parking(false);
    }

    private void assertPushFailsInDoubt(long block, int shard) {
        assertThatThrownBy(() -> model.push(block * BLOCK, memory, 0, BLOCK, Cancellation.NONE))
            .satisfies(failed -> assertShardFailed(failed, ShardException.Kind.LEARNER_FORGOTTEN, shard))
            .hasMessageContaining("may count once or not at all");
    }

    @Test
    void eachRepetitionOfAPushInDoubtFailsUntilTheLearnerContinues() throws Exception {
        serve(8 * BLOCK, 2);
        model.join();
        failPush();
        shards.forget(0);
        // The pieces of a gradient are separate calls, which run at the same time.
        List<CompletableFuture<Void>> pieces = IntStream.of(0, 2, 4, 6)
            .mapToObj(block -> async(() -> model.push(block * BLOCK, memory, 0, BLOCK, Cancellation.NONE))).toList();
        for (CompletableFuture<Void> piece : pieces) {
            assertThatThrownBy(() -> piece.get(30, TimeUnit.SECONDS)).cause()
                .satisfies(failed -> assertShardFailed(failed, ShardException.Kind.LEARNER_FORGOTTEN, 0));
        }
        assertPushFailsInDoubt(0, 0);
        model.pull(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
        assertPushFailsInDoubt(2, 0);
        model.push(BLOCK, memory, 0, BLOCK, Cancellation.NONE);
        model.goOn();
        model.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
    }

    @Test
    void learnerThatJoinsAfterAPushInDoubtIsNotAffected() throws Exception {
        serve(8 * BLOCK, 2);
        model.join();
        failPush();
        shards.forget(0);
        assertPushFailsInDoubt(0, 0);
        model.leave();
        model.join();
        model.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
    }

    /** Returns the failure of the first push of another process that continues as the learner; null if the push succeeds. */
    private Throwable failureOfTheNextProcess(boolean killed) throws IOException {
        SessionsImage image = model.learnerImage();
        shards.forget(0);
        try (StripedModel next = StripedModel.connect(context(shards.address()))) {
            next.resumeLearner(image, killed);
            Throwable failure = catchThrowable(() -> next.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE));
            next.goOn();
            next.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
            return failure;
        }
    }

    @Test
    void firstPushAfterTheMountWasKilledIsInDoubtIfItsShardForgotTheLearner() throws Exception {
        serve(8 * BLOCK, 2);
        model.join();
        model.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
        assertThat(failureOfTheNextProcess(false)).isNull();
        assertShardFailed(failureOfTheNextProcess(true), ShardException.Kind.LEARNER_FORGOTTEN, 0);
    }

    /** Otherwise, a part that the killed process has pushed would count in two rounds. */
    @Test
    void gradientAfterAnAbandonedOneKeepsItsRoundIfTheMountIsKilledWhileItPushes() throws IOException {
        serveBsp();
        model.push(0, memory, 0, BLOCK, Cancellation.NONE);
        model.goOn();
        SessionsImage image = model.learnerImage();
        try (StripedModel killed = StripedModel.connect(context(shards.address()))) {
            killed.resumeLearner(image, false);
            killed.push(0, memory, 0, 2 * BLOCK, Cancellation.NONE);
        }
        try (StripedModel next = StripedModel.connect(context(shards.address()))) {
            next.resumeLearner(image, true);
            assertThat(next.nextRound()).isEqualTo(3);
            next.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
            assertThat(next.nextRound()).isEqualTo(4);
        }
        assertThat(shards.shards).extracting(shard -> shard.joinRound).containsOnly(3L);
    }

    @Test
    void acknowledgedPartOfAFailedPushIsNotRepeatedIfItsShardForgotTheLearner() throws Exception {
        serve(8 * BLOCK, 2);
        model.join();
        shards.shards.get(1).parking = true;
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> push = async(() -> model.push(0, memory, 0, 8 * BLOCK, cancellation));
        await("shard 0 has its part of the push, and shard 1 does not",
            () -> shards.shards.get(0).admitted.get() == 4 && shards.parked() == 4);
        shards.forget(0);
        await("another call joins shard 0 again", () -> {
            try {
                model.pull(0, memory, 0, BLOCK, Cancellation.NONE);
                return shards.shards.get(0).admitted.get() >= 5;
            } catch (IOException e) {
                return false;
            }
        });
        cancellation.cancel();
        assertThatThrownBy(() -> push.get(30, TimeUnit.SECONDS)).isNotNull();
        shards.parking(false);
        assertPushFailsInDoubt(0, 0);
        assertPushFailsInDoubt(0, 0);
        model.goOn();
        model.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
    }

    @Test
    void pushInFlightIsSentAgainIfTheShardRestartsFromAnEarlierRound() throws Exception {
        serveBsp();
        shards.parking(true);
        CompletableFuture<Void> push = async(() -> model.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE));
        // Waits for all commands, because a command that arrives after parking(false) would be applied before the restart.
        await("all commands of the push wait in the shards", () -> shards.parked() == 8);
        shards.parking(false);
        for (int shard = 0; shard < 2; shard++) {
            shards.shards.get(shard).startRound = 1;
            shards.shards.get(shard).joinRound = 2;
            shards.forget(shard);
        }
        push.get(30, TimeUnit.SECONDS);
        assertThat(model.nextRound()).isEqualTo(3);
    }

    @Test
    void bspGradientIsAbandonedIfTheShardThatForgotTheLearnerHadAPartOfIt() throws IOException {
        serveBsp();
        model.push(0, memory, 0, 4 * BLOCK, Cancellation.NONE);
        shards.forget(1);
        assertThatThrownBy(() -> model.push(4 * BLOCK, memory, 0, 4 * BLOCK, Cancellation.NONE))
            .hasMessageContaining("has forgotten this learner")
            .hasMessageContaining("a part of the gradient has counted")
            .satisfies(failed -> assertShardFailed(failed, ShardException.Kind.LEARNER_FORGOTTEN, 1));
        assertThatThrownBy(() -> model.pull(0, memory, 0, BLOCK, Cancellation.NONE)).isInstanceOf(ShardException.class);
        assertThat(model.goOn()).isZero();
        model.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
        assertThat(model.nextRound()).isEqualTo(4);
        // Otherwise, the shards would wait for the rest of round 2.
        assertThat(shards.shards).extracting(shard -> shard.joinRound).containsOnly(3L);
    }

    @Test
    void shardsDoNotWaitForTheRoundsThatALearnerSkipsAfterAShardHasGoneBack() throws IOException {
        serveBsp();
        for (int round = 2; round <= 4; round++) {
            model.push(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
        }
        model.push(BLOCK, memory, 0, BLOCK, Cancellation.NONE);
        shards.goBack(0, 3);
        assertThatThrownBy(() -> model.push(2 * BLOCK, memory, 0, 6 * BLOCK, Cancellation.NONE))
            .satisfies(failed -> assertShardFailed(failed, ShardException.Kind.WENT_BACK, 0));
        model.goOn();
        model.pull(0, memory, 0, 8 * BLOCK, Cancellation.NONE);
        assertThat(model.nextRound()).isEqualTo(6);
        assertThat(shards.shards).extracting(shard -> shard.joinRound).containsOnly(6L);
    }

    @Test
    void bspGradientCanStillBePushedIfTheShardThatForgotTheLearnerHadNoPartOfIt() throws IOException {
        serveBsp();
        shards.forget(1);
        await("the learner can push again", this::pushes);
        assertThat(model.nextRound()).isEqualTo(3);
    }

    @Test
    void learnerForgottenByOneShardRejoinsAtTheSameRoundOnAllShards() throws IOException {
        serve(4 * BLOCK, 2);
        model.join();
        shards.shards.get(0).joinRound = 9;
        shards.forget(0);
        await("the learner can push again", this::pushes);
        assertThat(shards.shards.get(1).joinRound).isEqualTo(9);
    }

    @Test
    void learnerForgottenByARestartedShardContinuesThereAtTheRoundOfTheOtherShards() throws IOException {
        serve(4 * BLOCK, 2);
        model.join();
        for (int round = 1; round <= 5; round++) {
            assertThat(pushes()).isTrue();
        }
        shards.forget(0);
        await("the learner can push again", this::pushes);
        assertThat(shards.shards.get(0).joinRound).isEqualTo(6);
        assertThat(shards.shards.get(1).joinRound).isEqualTo(1);
        assertThat(model.nextRound()).isEqualTo(7);
    }

    @Test
    void callsFailAfterShardsHaveGoneBackUntilTheLearnerContinues() throws Exception {
        serve(4 * MIB, 2);
        model.join();
        for (int round = 1; round <= 5; round++) {
            model.push(0, memory, 0, 4 * MIB, Cancellation.NONE);
        }
        shards.parking(true);
        CompletableFuture<Void> push = async(() -> model.push(0, memory, 0, 4 * MIB, Cancellation.NONE));
        await("a command of the push waits in the shard", () -> !shards.shards.get(1).parked.isEmpty());
        shards.parking(false);
        shards.goBack(0, 3);
        shards.goBack(1, 3);
        assertThatThrownBy(() -> push.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(ShardException.class)
            // Some blocks of the sixth push might have been pushed before the restart.
            .hasMessageMatching(
                "(?s).*has gone back to earlier weights, which takes back [34] rounds of this learner.*");
        assertThatThrownBy(() -> model.push(0, memory, 0, BLOCK, Cancellation.NONE))
            .satisfies(e -> assertShardFailed(e, ShardException.Kind.WENT_BACK, 0));
        assertThatThrownBy(() -> model.pull(0, memory, 0, BLOCK, Cancellation.NONE))
            .satisfies(e -> assertShardFailed(e, ShardException.Kind.WENT_BACK, 0));
        model.read(0, memory, 0, BLOCK, Cancellation.NONE);
        assertThat(model.goOn()).isBetween(3L, 4L);
        assertThat(model.nextRound()).isEqualTo(3);
        model.push(0, memory, 0, 4 * MIB, Cancellation.NONE);
        assertThat(model.nextRound()).isEqualTo(4);
        assertThat(model.goOn()).as("rounds taken back since the last call; both shards went back together").isZero();
    }
}
