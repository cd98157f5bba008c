package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.checkpoint.CheckpointPeriod;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.checkpoint.StartAgainException;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Roles;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.test.ManualClock;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts and stops the shards of a model that takes checkpoints: all shards together, or one alone. */
class CheckpointRestartTest extends CheckpointFixture {
    @Test
    void shardWaitsUntilTheOtherShardsHaveStartedFromTheSameCheckpoint() throws Exception {
        twoCheckpoints();
        ShardModel first = start(context(0, 2));
        CompletableFuture<Void> waiting = awaitingOtherShards(first);
        ShardModel second = start(context(1, 2));
        second.checkpointer().step();
        clock.advance(Duration.ofSeconds(1));
        waiting.get(10, TimeUnit.SECONDS);
    }

    @Test
    void waitingShardRestartsIfAnotherShardHasStartedFromAnOlderCheckpoint() throws Exception {
        twoCheckpoints();
        ShardModel first = start(context(0, 2));
        CompletableFuture<Void> waiting = awaitingOtherShards(first);
        ServerContext older = context(1, 2).checkpoints(new CheckpointSettings(folder.resolve("state"),
            CheckpointPeriod.parse(period), keep, 1, maxFileBytes));
        assertThat(weights(start(older))).containsOnly(1);
        clock.advance(Duration.ofSeconds(1));
        assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS)).cause().isInstanceOf(StartAgainException.class)
            .hasMessageContaining("shard 1 has started from checkpoint 1")
            .extracting(e -> ((StartAgainException) e).startAtMost()).isEqualTo(1L);
    }

    @Test
    void learnerCanPushToARestoredShardBeforeTheOtherLearnersHaveJoined() throws Exception {
        twoCheckpoints();
        ShardModel restored = start(context(0, 1).learners(2));
        assertThat(restored.consistency().rounds(0)).isEqualTo(2);
        push(restored, 3, 1);
    }

    /** Starts a thread that waits until the other shards have started. Returns when the thread waits. */
    private CompletableFuture<Void> awaitingOtherShards(ShardModel shard) {
        CompletableFuture<Void> waiting = Roles.start(shard::awaitOtherShards);
        await("shard " + shard.facts().shard() + " waits", () -> clock.waitingThreads() == 1);
        return waiting;
    }

    private static CompletableFuture<Void> stopping(ShardModel shard) {
        return Roles.start(() -> shard.saveLast(() -> {}));
    }

    /** Stops shards together, and returns when they have stopped. */
    private void stop(List<ShardModel> shards) throws InterruptedException {
        awaitStopped(shards, shards.stream().map(CheckpointRestartTest::stopping).toList());
    }

    private void awaitStopped(List<ShardModel> running, List<CompletableFuture<Void>> stops)
        throws InterruptedException {
        await("the shards have stopped", () -> {
            running.forEach(shard -> shard.checkpointer().step());
            clock.advance(Duration.ofMillis(50));
            return stops.stream().allMatch(CompletableFuture::isDone);
        });
        stops.forEach(CompletableFuture::join);
    }

    private static List<Long> histories(List<ShardModel> shards) {
        return shards.stream().map(shard -> shard.checkpointer().history()).toList();
    }

    @Test
    void shardsThatStopTogetherSaveTheSameRoundAndLoseNoPush() throws Exception {
        List<ShardModel> shards = start(2);
        for (int round = 1; round <= 3; round++) {
            pushAll(shards, round, round);
        }
        push(shards.get(1), 4, 4);
        List<Long> before = histories(shards);
        List<CompletableFuture<Void>> stops = shards.stream().map(CheckpointRestartTest::stopping)
            .toList();
        await("both shards have begun to save round 4", () -> {
            shards.forEach(shard -> shard.checkpointer().step());
            clock.advance(Duration.ofMillis(50));
            if (checkpoints().isEmpty()) {
                return false;
            }
            String name = newest().getFileName().toString();
            return Files.readString(newest().resolve("checkpoint.json")).contains("\"round\" : 4,") && shards.stream()
                .allMatch(shard -> name.matches(
                    ".*-0*" + shard.checkpointer().status().writing() + "\\.[0-9a-f]+\\.partial"));
        });
        assertThat(tryPush(shards.getFirst(), 4, 4)).isTrue();
        assertThat(tryPush(shards.getFirst(), 5, 5)).as("a push of a round after the last checkpoint").isFalse();
        assertThat(tryPush(shards.get(1), 5, 5)).isFalse();
        awaitStopped(shards, stops);
        closeShards();

        List<ShardModel> again = start(2);
        for (ShardModel shard : again) {
            assertThat(weights(shard)).containsOnly(10);
        }
        assertThat(histories(again)).isEqualTo(before);
        stop(again);
        closeShards();
        assertThat(histories(start(2))).as("after a stop without new pushes").isEqualTo(before);
        closeShards();
        assertThat(histories(start(2))).as("after the death of both shards").doesNotContainAnyElementsOf(before);
    }

    private ShardModel startOf(int learners) throws Exception {
        ShardModel shard = start(context(0, 1).learners(learners).lease(Duration.ofSeconds(1)));
        step(List.of(shard));
        return shard;
    }

    private ShardModel startedAfterAStop(ShardModel shard, int learners) throws Exception {
        stop(List.of(shard));
        closeShards();
        return startOf(learners);
    }

    private static long join(ShardModel shard, Nexus learner, boolean anew) throws Exception {
        return shard.learners().admit(learner, anew).number();
    }

    @Test
    void pushRepeatedAfterAPlannedStopOfABspShardCountsOnce() throws Exception {
        ShardModel shard = startOf(1);
        long number = join(shard, LEARNER, false);
        push(shard, 1, 1);
        push(shard, 2, 2);
        ShardModel again = startedAfterAStop(shard, 1);
        assertThat(join(again, LEARNER, false)).isEqualTo(number);
        push(again, 2, 2);
        assertThat(weights(again)).containsOnly(3);
        push(again, 3, 3);
        assertThat(weights(again)).containsOnly(6);
        assertThat(join(startedAfterAStop(again, 1), LEARNER, false)).as("after another stop").isEqualTo(number);
    }

    @Test
    void learnerContinuesAfterTwoPlannedStopsBetweenWhichItHasNotComeBack() throws Exception {
        ShardModel shard = startOf(2);
        Nexus other = FakeTask.nexus("b");
        shard.target().nexusEstablished(other);
        long number = join(shard, LEARNER, false);
        long others = join(shard, other, false);
        push(shard, 1, 1);
        write(shard.target().units().get(0), new FakeTask(other, 0, SIZE).fill(1).ofRound(1));
        ShardModel again = startedAfterAStop(shard, 2);
        assertThat(join(again, LEARNER, false)).isEqualTo(number);
        ShardModel twice = startedAfterAStop(again, 2);
        assertThat(join(twice, LEARNER, false)).isEqualTo(number);
        assertThat(join(twice, other, false)).isEqualTo(others);
    }

    @Test
    void learnerThatMissedAClosedRoundDoesNotContinueAfterAPlannedStop() throws Exception {
        Nexus other = FakeTask.nexus("b");
        ShardModel shard = startOf(2);
        shard.target().nexusEstablished(other);
        long number = join(shard, LEARNER, false);
        long others = join(shard, other, false);
        FakeTask whole = new FakeTask(other, 0, SIZE).fill(1).ofRound(1);
        write(shard.target().units().get(0), whole);
        shard.target().nexusLost(LEARNER, false);
        clock.advance(Duration.ofSeconds(2));
        shard.expire();
        assertThat(shard.consistency().rounds(0)).isEqualTo(1);
        ShardModel again = startedAfterAStop(shard, 2);
        assertThat(join(again, LEARNER, false)).isNotEqualTo(number);
        assertThat(join(again, other, false)).isEqualTo(others);
    }

    @Test
    void learnerDoesNotContinueAfterAnAnewJoinOrAKilledShard() throws Exception {
        ShardModel shard = startOf(1);
        long number = join(shard, LEARNER, false);
        push(shard, 1, 1);
        ShardModel again = startedAfterAStop(shard, 1);
        assertThat(join(again, LEARNER, true)).isNotEqualTo(number);
        long newNumber = join(again, LEARNER, false);
        push(again, 2, 1);
        checkpoint(List.of(again));
        closeShards();
        assertThat(join(startOf(1), LEARNER, false)).isNotEqualTo(number).isNotEqualTo(newNumber);
    }

    @Test
    void learnerThatComesBackAfterTheNextRoundHasBegunDoesNotContinue() throws Exception {
        ShardModel shard = startOf(1);
        long number = join(shard, LEARNER, false);
        push(shard, 1, 1);
        ShardModel again = startedAfterAStop(shard, 1);
        Nexus other = FakeTask.nexus("b");
        again.target().nexusEstablished(other);
        join(again, other, false);
        write(again.target().units().get(0), new FakeTask(other, 0, SIZE).fill(1).ofRound(2));
        assertThat(join(again, LEARNER, false)).isNotEqualTo(number);
    }

    @Test
    void shardThatStopsLaterSavesTheSameRoundAsTheFirstShardToStop() throws Exception {
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        List<Long> before = histories(shards);
        ShardModel early = shards.get(1);
        awaitStopped(shards, List.of(stopping(early)));
        early.close();
        ShardModel late = shards.getFirst();
        assertThat(tryPush(late, 2, 2)).as("a push of a round that the stopped shard cannot save").isFalse();
        CompletableFuture<Void> stopping = stopping(late);
        assertThat(stopping).succeedsWithin(Duration.ofSeconds(10));
        late.close();
        open.clear();
        assertThat(histories(start(2))).isEqualTo(before);
    }

    @Test
    void pushOfTheNextRoundWaitsAfterAnIdleShardHasStopped() throws Exception {
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        checkpoint(shards);
        shards.get(1).saveLast(() -> {});
        step(shards.subList(0, 1));
        assertThat(tryPush(shards.getFirst(), 2, 2)).isFalse();
    }

    private static boolean tryPush(ShardModel shard, long round, float value) {
        try {
            return shard.target().units().get(0).write(pushOf(shard, round, value));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aspShardDisconnectsItsLearnersBeforeItsLastCheckpoint() throws Exception {
        consistency = "asp";
        List<ShardModel> shards = start(1);
        push(shards.getFirst(), 1, 1);
        checkpoint(shards);
        push(shards.getFirst(), 2, 1);
        long before = shards.getFirst().checkpointer().history();
        CompletableFuture<Void> stopping = Roles.start(
            // A last push is acknowledged while the connections are being closed.
            () -> shards.getFirst().saveLast(() -> tryPush(shards.getFirst(), 3, 1)));
        awaitStopped(shards, List.of(stopping));
        closeShards();
        ShardModel again = start(1).getFirst();
        assertThat(weights(again)).containsOnly(3);
        assertThat(again.checkpointer().history()).isEqualTo(before);
    }

    /** A clock that counts how often the thread that stops a shard has begun to sleep. */
    private static final class StopClock implements NanoClock {
        private final ManualClock clock;
        private final AtomicInteger sleeps = new AtomicInteger();

        StopClock(ManualClock clock) {
            this.clock = clock;
        }

        @Override
        public long nanoTime() {
            return clock.nanoTime();
        }

        @Override
        public boolean awaitUntil(Condition condition, long deadlineNs) throws InterruptedException {
            return clock.awaitUntil(condition, deadlineNs);
        }

        @Override
        public void sleepUntil(long deadlineNs) throws InterruptedException {
            sleeps.incrementAndGet();
            clock.sleepUntil(deadlineNs);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void stoppingShardWaitsForItsLastCheckpointWhileAnyShardWritesBlocks(int count) throws Exception {
        consistency = "asp";
        StopClock stopClock = new StopClock(clock);
        List<ShardModel> shards = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            shards.add(start(context(i, count).clock(stopClock)));
            push(shards.get(i), 1, 1);
        }
        ShardModel slow = shards.getFirst();
        ShardModel stopped = shards.getLast();
        long before = stopped.checkpointer().history();
        slow.store().block(0).lock();
        CompletableFuture<Void> stopping = stopping(stopped);
        List<Thread> steppers = shards.stream().map(shard -> Thread.ofPlatform().daemon().start(() -> {
            while (!stopping.isDone()) {
                shard.checkpointer().step();
                Thread.onSpinWait();
            }
        })).toList();
        int blocks = slow.store().layout().blocks();
        AtomicReference<Object> blocker = new AtomicReference<>();
        for (int i = 0; i < blocks; i++) {
            String message = "block " + i + " is about to be written";
            await(message, () -> {
                // Shard 0 first waits a moment for the other shards to stop too. It then requests the checkpoint.
                clock.advance(Duration.ofMillis(1));
                Object now = LockSupport.getBlocker(steppers.getFirst());
                return now != null && now != blocker.getAndSet(now) || stopping.isDone();
            });
            for (int pass = 0; pass < 16; pass++) {
                int sleeps = stopClock.sleeps.get();
                clock.advance(Duration.ofMillis(500));
                await("the stopping shard has checked the progress",
                    () -> stopClock.sleeps.get() > sleeps || stopping.isDone());
            }
            if (i + 1 < blocks) {
                slow.store().block(i + 1).lock();
            }
            slow.store().block(i).unlock();
        }
        await("the shard has stopped", () -> {
            clock.advance(Duration.ofMillis(1));
            return stopping.isDone();
        });
        stopping.join();
        for (Thread stepper : steppers) {
            stepper.join();
        }
        closeShards();
        ShardModel again = start(count).getLast();
        assertThat(weights(again)).containsOnly(1);
        assertThat(again.checkpointer().history()).isEqualTo(before);
    }

    @Test
    void shardThatStopsOnAHangingDiskRestartsWithANewHistory() throws Exception {
        consistency = "asp";
        ShardModel shard = start(1).getFirst();
        push(shard, 1, 1);
        checkpoint(List.of(shard));
        push(shard, 2, 1);
        long before = shard.checkpointer().history();
        // The locked fourth block stops the checkpoint, like a disk that hangs.
        shard.store().block(3).lock();
        CompletableFuture<Void> stopping = stopping(shard);
        shard.startCheckpoints();
        awaitAdvancing("the shard has stopped", stopping::isDone);
        shard.store().block(3).unlock();
        closeShards();
        ShardModel again = start(1).getFirst();
        assertThat(weights(again)).containsOnly(1);
        assertThat(again.checkpointer().history()).isNotEqualTo(before);
    }

    @Test
    void checkpointStepThatOutlastsCloseStillWritesItsFile() throws Exception {
        consistency = "asp";
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        aggregator = new SumAggregator() {
            @Override
            public LearningRate learningRate() {
                // The checkpoint thread reads the learning rate after the last block and before the end of the file.
                if (Thread.currentThread().getName().startsWith("modeldisk-checkpoint")) {
                    reached.countDown();
                    awaitQuietly(released);
                }
                return super.learningRate();
            }
        };
        ShardModel shard = start(context(0, 1));
        push(shard, 1, 1);
        shard.checkpointer().request();
        shard.startCheckpoints();
        awaitAdvancing("the thread has written all blocks", () -> reached.getCount() == 0);
        CompletableFuture<Void> closing = Roles.start(() -> shard.checkpointer().close());
        awaitAdvancing("the shard stops waiting for the thread", closing::isDone);
        released.countDown();
        await("the part is complete",
            () -> !checkpoints().isEmpty() && Files.exists(newest().resolve("state-00001-of-00001.safetensors")));
    }

    private void awaitAdvancing(String message, BooleanSupplier condition) {
        await(message, () -> {
            clock.advance(Duration.ofMillis(100));
            return condition.getAsBoolean();
        });
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shardThatCannotSaveItsLastPushesStopsAndRestartsWithANewHistory() throws Exception {
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        checkpoint(shards);
        List<Long> before = histories(shards);
        push(shards.get(1), 2, 1);
        ShardModel alone = shards.get(1);
        CompletableFuture<Void> stopping = stopping(alone);
        // Only shard 1 makes steps, as if shard 0 hung.
        awaitStopped(List.of(alone), List.of(stopping));
        closeShards();
        List<ShardModel> again = start(2);
        assertThat(weights(again.get(1))).containsOnly(1);
        assertThat(again.get(1).checkpointer().history()).isNotEqualTo(before.get(1));
    }

    @Test
    void otherBspShardsGoBackWhenOneShardRestartsAlone() throws Exception {
        List<ShardModel> shards = start(3);
        pushAll(shards, 1, 1);
        checkpoint(shards);
        pushAll(shards, 2, 1);
        shards.get(1).close();
        open.remove(shards.get(1));
        step(List.of(shards.get(0), shards.get(2)));
        assertThat(goneBack).isEmpty();
        ShardModel again = start(context(1, 3));
        step(List.of(shards.get(0), shards.get(2)));
        assertThat(goneBack).containsExactly(0, 2);
        step(List.of(again));
        assertThat(goneBack).as("the restarted shard has the weights of the checkpoint").containsExactly(0, 2);
    }

    @Test
    void shardsThatStartTogetherFromTheSameCheckpointDoNotGoBack() throws Exception {
        twoCheckpoints();
        step(start(2));
        assertThat(goneBack).isEmpty();
    }

    @Test
    void otherAspShardsDoNotGoBackWhenOneShardRestartsAlone() throws Exception {
        consistency = "asp";
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        checkpoint(shards);
        pushAll(shards, 2, 1);
        shards.get(1).close();
        open.remove(shards.get(1));
        ShardModel again = start(context(1, 2));
        step(List.of(shards.getFirst()));
        assertThat(goneBack).isEmpty();
        assertThat(weights(shards.getFirst())).containsOnly(2);
        assertThat(weights(again)).containsOnly(1);
    }
}
