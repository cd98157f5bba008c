package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.fault.checkpoint.CheckpointStatus;
import io.modeldisk.fault.journal.JournalSettings;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts and kills shards that have a journal. */
class JournalShardTest extends CheckpointFixture {
    private static final Duration TICK = Duration.ofMillis(100);

    private boolean withJournal = true;
    private long limitBytes = 1 << 30;
    private int kills;

    @Override
    protected ServerContext contextWithoutWeights(int shard, int shards) {
        ServerContext context = super.contextWithoutWeights(shard, shards);
        return withJournal
            ? context.journal(new JournalSettings(folder.resolve("state"), limitBytes, Duration.ZERO))
            : context;
    }

    /** Ends all shards as SIGKILL would. The next shards use a copy of the files as they are at this moment. */
    private void kill() throws IOException {
        await("all records are on disk",
            () -> open.stream().map(shard -> shard.records().status())
                .allMatch(all -> all.appended() == all.durable()));
        Path copy = Files.createDirectory(folder.resolve("killed-" + kills++));
        try (Stream<Path> files = Files.walk(folder.resolve("state"))) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(folder.relativize(file)));
            }
        }
        closeShards();
        folder = copy;
    }

    /** Runs steps of the shards while time passes, until the condition is true. */
    private void awaitSteps(String message, List<ShardModel> shards, BooleanSupplier condition) {
        await(message, () -> {
            clock.advance(TICK);
            step(shards);
            return condition.getAsBoolean();
        });
    }

    private void takeCheckpoint(List<ShardModel> shards) {
        long request = shards.getFirst().checkpointer().request();
        awaitSteps("the checkpoint is complete", shards,
            () -> shards.getFirst().checkpointer().status().answered() == request);
        step(shards);
        CheckpointStatus status = shards.getFirst().checkpointer().status();
        assertThat(status.failure()).isNull();
    }

    private long segments() throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("state/journal"))) {
            return files.filter(file -> file.toString().endsWith(".records")).count();
        }
    }

    /** A push to a shard with a journal is parked until the records of the push are durable. */
    @Override
    protected void write(LogicalUnit unit, FakeTask push) throws Exception {
        RecordedShard.write(unit, push);
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "ssp:2", "bsp"})
    void acknowledgedPushesSurviveTheDeathOfAllShards(String mode) throws Exception {
        consistency = mode;
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        pushAll(shards, 2, 2);
        kill();
        for (int i = 0; i < 2; i++) {
            shards = start(2);
            for (ShardModel shard : shards) {
                assertThat(weights(shard)).containsOnly(3);
                assertThat(shard.learners().roster().members()).hasSize(1);
            }
            kill();
        }
        shards = start(2);
        pushAll(shards, 2, 2);
        pushAll(shards, 3, 4);
        assertThat(weights(shards.get(1))).as("weights after a push was repeated after the restart").containsOnly(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "bsp"})
    void pushesBeforeAndAfterACheckpointCountOnce(String mode) throws Exception {
        consistency = mode;
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        takeCheckpoint(shards);
        assertThat(segments()).as("segments after those before the checkpoint were deleted").isEqualTo(2);
        pushAll(shards, 2, 2);
        kill();
        shards = start(2);
        for (ShardModel shard : shards) {
            assertThat(weights(shard)).containsOnly(3);
        }
        takeCheckpoint(shards);
        kill();
        shards = start(2);
        pushAll(shards, 2, 2);
        for (ShardModel shard : shards) {
            assertThat(weights(shard)).containsOnly(3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "bsp"})
    void pushesSurviveTheDeathOfTheShardsWhileTheyTakeACheckpoint(String mode) throws Exception {
        consistency = mode;
        float sum = 0;
        List<ShardModel> shards = start(2);
        for (int round = 1; round < 12; round++) {
            pushAll(shards, round, round);
            sum += round;
            shards.getFirst().checkpointer().request();
            SplittableRandom random = new SplittableRandom(round);
            for (int steps = random.nextInt(6); steps > 0; steps--) {
                shards.get(random.nextInt(2)).checkpointer().step();
                clock.advance(TICK);
            }
            kill();
            shards = start(2);
            for (ShardModel shard : shards) {
                assertThat(weights(shard)).as("round %d", round).containsOnly(sum);
            }
        }
    }

    @Test
    void partOfARoundSurvivesTheDeathOfTheShard() throws Exception {
        ShardModel shard = start(1).getFirst();
        push(shard, 1, 1);
        int half = BLOCK / 2;
        RecordedShard.write(shard.target().units().get(0), new FakeTask(LEARNER, 0, half).fill(5).ofRound(2));
        kill();
        shard = start(1).getFirst();
        assertThat(weights(shard)).containsOnly(1);
        push(shard, 2, 5);
        assertThat(weights(shard)).containsOnly(6);
    }

    @Test
    void otherShardsDoNotGoBackWhenAShardRestartsFromItsJournal() throws Exception {
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        takeCheckpoint(shards);
        pushAll(shards, 2, 2);
        shards.get(1).close();
        open.remove(1);
        ShardModel again = start(context(1, 2));
        again.awaitOtherShards();
        step(shards.subList(0, 1));
        assertThat(goneBack).isEmpty();
        assertThat(weights(again)).containsOnly(3);
    }

    @Test
    void pushOfTheNextRoundWaitsWhileAnotherShardIsStopped() throws Exception {
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        ShardModel first = shards.getFirst();
        ShardModel stopped = shards.get(1);
        CompletableFuture<Void> stop = CompletableFuture.runAsync(() -> stopped.saveLast(() -> {}));
        awaitSteps("shard 1 has stopped", shards, stop::isDone);
        stopped.close();
        open.remove(1);
        FakeTask push = pushOf(first, 2, 2);
        assertThat(first.target().units().get(0).write(push)).isFalse();
        start(context(1, 2));
        step(List.of(first));
        RecordedShard.write(first.target().units().get(0), push);
        assertThat(weights(first)).containsOnly(3);
    }

    @Test
    void shardWithALongJournalRequestsAnEarlyCheckpoint() throws Exception {
        consistency = "asp";
        limitBytes = 4 * BLOCK;
        List<ShardModel> shards = start(2);
        for (int round = 1; round <= 3; round++) {
            push(shards.get(1), round, 1);
        }
        assertThat(shards.get(1).journal().bytes()).isGreaterThan(limitBytes);
        awaitSteps("the journal is short", shards, () -> shards.get(1).journal().bytes() <= limitBytes);
        assertThat(shards.getFirst().checkpointer().status().number()).isPositive();
    }

    @Test
    void pushesToAFullJournalAreRefusedWithTheReasonUntilACheckpointIsComplete() throws Exception {
        consistency = "asp";
        limitBytes = 2 * BLOCK;
        List<ShardModel> shards = start(2);
        ShardModel first = shards.getFirst();
        for (int round = 1; round <= 4; round++) {
            push(first, round, 1);
        }
        first.checkpointer().step();
        assertThatThrownBy(() -> push(first, 5, 1)).isInstanceOf(ScsiException.class)
            .hasMessageContaining("the journal " + first.journal().path() + " is full")
            .hasMessageContaining("no checkpoint was completed");
        assertThat(new String(first.status(), StandardCharsets.UTF_8)).contains("\"durability\":\"journal\"",
            "is full");
        awaitSteps("a checkpoint is complete", shards, () -> first.checkpointer().status().number() > 0);
        step(shards);
        push(first, 5, 1);
        kill();
        assertThat(weights(start(2).getFirst())).containsOnly(5);
    }

    @Test
    void shardWithoutJournalRefusesADirectoryWithJournals() throws Exception {
        pushAll(start(2), 1, 1);
        kill();
        withJournal = false;
        assertThatThrownBy(() -> start(2)).isInstanceOf(IOException.class)
            .hasMessageContaining("start all shards with --durability journal");
    }

    @Test
    void journalThatDoesNotContinueTheCheckpointIsRefused() throws Exception {
        List<ShardModel> shards = start(1);
        pushAll(shards, 1, 1);
        takeCheckpoint(shards);
        pushAll(shards, 2, 1);
        takeCheckpoint(shards);
        pushAll(shards, 3, 1);
        kill();
        // The test damages the newest checkpoint, which is the only one that the journal continues.
        Files.delete(newest().resolve("checkpoint.json"));
        assertThatThrownBy(() -> start(1)).isInstanceOf(IOException.class)
            .hasMessageContaining("acknowledged pushes would be lost")
            .hasMessageContaining("move " + folder.resolve("state/journal") + " away");
    }
}
