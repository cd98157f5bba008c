package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.fault.checkpoint.CheckpointLoader;
import io.modeldisk.fault.checkpoint.CheckpointPeriod;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.checkpoint.CheckpointStatus;
import io.modeldisk.fault.checkpoint.Checkpointer;
import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.server.fake.CountingAggregator;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Takes checkpoints of shards, and starts other shards from these checkpoints. */
class CheckpointTest extends CheckpointFixture {
    @Test
    void restartedShardsContinueWithTheRoundAndWeightsOfTheCheckpoint() throws Exception {
        List<ShardModel> shards = start(2);
        for (int round = 1; round <= 7; round++) {
            pushAll(shards, round, round);
        }
        CheckpointStatus taken = checkpoint(shards);
        assertThat(taken.round()).isEqualTo(7);
        pushAll(shards, 8, 8);
        closeShards();

        for (ShardModel shard : start(2)) {
            assertThat(weights(shard)).startsWith(28).endsWith(28);
            assertThat(shard.store().versions().span().min()).isEqualTo(7);
            assertThat(shard.learners().join(LEARNER).joinRound()).isEqualTo(8);
            JsonNode restored = new ObjectMapper().readTree(shard.status());
            assertThat(restored.at("/version/total").asLong()).isPositive();
            assertThat(restored.at("/updates").asLong(-1)).as("updates since the restart").isZero();
            push(shard, 8, 8);
            assertThat(new ObjectMapper().readTree(shard.status()).at("/updates").asLong())
                .isEqualTo(shard.store().layout().blocks());
            assertThat(weights(shard)).startsWith(36).endsWith(36);
        }
    }

    @Test
    void blocksInDifferentRoundsAreSavedAfterTheSameRound() throws Exception {
        List<ShardModel> shards = start(2);
        ShardModel ahead = shards.get(1);
        pushAll(shards, 1, 1);
        push(ahead, 2, 2);
        long request = shards.getFirst().checkpointer().request();
        step(shards);
        assertThat(shards.getFirst().checkpointer().status().answered()).as("shard 0 is still in round 1")
            .isLessThan(request);
        push(shards.getFirst(), 2, 2);
        push(ahead, 3, 3);
        push(shards.getFirst(), 3, 3);
        push(shards.getFirst(), 4, 4);
        push(ahead, 4, 4);
        step(shards);
        CheckpointStatus taken = shards.getFirst().checkpointer().status();
        assertThat(taken.answered()).isEqualTo(request);
        closeShards();

        float sum = taken.round() * (taken.round() + 1) / 2f;
        for (ShardModel shard : start(2)) {
            assertThat(weights(shard)).containsOnly(sum);
        }
    }

    @Test
    void pushesAfterTheStartOfACheckpointAreNotInIt() throws Exception {
        consistency = "asp";
        SplittableRandom random = new SplittableRandom(1);
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 5);
        shards.getFirst().checkpointer().request();
        shards.getFirst().checkpointer().step();
        shards.get(1).checkpointer().step();
        for (int i = 0; i < 5; i++) {
            pushAll(shards, 2 + i, random.nextInt(10));
        }
        step(shards);
        closeShards();

        for (ShardModel shard : start(2)) {
            assertThat(weights(shard)).containsOnly(5);
        }
    }

    @ParameterizedTest
    @CsvSource({"45056, 1000000", "45056, 20", "41060, 1000000", "41060, 20", "40964, 20"})
    void checkpointOfTwoShardsStartsThreeShards(int sizeBytes, int fileBytes) throws Exception {
        aggregator = new CountingAggregator();
        aggregatorName = "counting";
        maxFileBytes = fileBytes;
        byte[] data = new byte[sizeBytes];
        ByteBuffer numbers = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < sizeBytes / Float.BYTES; i++) {
            numbers.putFloat(i);
        }
        Path file = safetensors(data);
        List<ShardModel> two = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            two.add(start(fileContext(i, 2, file)));
        }
        step(two);
        for (int i = 0; i < 2; i++) {
            push(two.get(i), 1, i);
        }
        checkpoint(two);
        assertThat(newest().resolve("model-00001-of-0000" + (fileBytes == 20 ? 2 : 1) + ".safetensors")).exists();
        closeShards();

        for (int i = 0; i < 3; i++) {
            ShardModel shard = start(fileContext(i, 3, file));
            float[] found = weights(shard);
            for (int block = i; block * BLOCK < sizeBytes; block += 3) {
                int values = Math.min(BLOCK, sizeBytes - block * BLOCK) / Float.BYTES;
                int first = block * BLOCK / Float.BYTES;
                MemorySegment state = shard.store().block(block / 3).state();
                for (int value = 0; value < values; value++) {
                    assertThat(found[block / 3 * BLOCK / Float.BYTES + value]).as("value %d of block %d", value, block)
                        .isEqualTo(first + value + 1 + block % 2);
                    assertThat(state.getAtIndex(ValueLayout.JAVA_FLOAT, value)).isEqualTo(1 + block % 2);
                }
            }
        }
    }

    private Path safetensors(byte[] data) throws IOException {
        byte[] header = ("{\"a\":{\"dtype\":\"F32\",\"shape\":[3,5],\"data_offsets\":[0,60]},\"b\":{\"dtype\":\"F32\",\"shape\":["
            + (data.length - 60) / 4 + "],\"data_offsets\":[60," + data.length + "]}}")
            .getBytes(StandardCharsets.UTF_8);
        return Files.write(folder.resolve("model.safetensors"),
            ByteBuffer.allocate(8 + header.length + data.length).order(ByteOrder.LITTLE_ENDIAN).putLong(header.length)
                .put(header).put(data).array());
    }

    @ParameterizedTest
    @ValueSource(strings = {"flipped bit", "short file"})
    void previousCheckpointIsUsedIfAFileIsDamaged(String damage) throws Exception {
        twoCheckpoints();
        try (RandomAccessFile file = new RandomAccessFile(
            newest().resolve("model-00001-of-00001.safetensors").toFile(), "rw")) {
            file.seek(file.length() - 1000);
            int value = file.read();
            file.seek(file.length() - 1000);
            file.write(damage.equals("flipped bit") ? value ^ 1 : value);
            file.setLength(file.length() - (damage.equals("short file") ? 1 : 0));
        }
        for (ShardModel shard : start(2)) {
            assertThat(weights(shard)).containsOnly(1);
        }
    }

    @Test
    void previousCheckpointIsUsedIfTheFactsFileOfTheNewestIsDamaged() throws Exception {
        twoCheckpoints();
        CheckpointSettings settings = new CheckpointSettings(folder.resolve("state"), CheckpointPeriod.parse(period),
            keep, CheckpointSettings.ANY, maxFileBytes);
        assertThat(CheckpointLoader.newest(settings).number()).isEqualTo(2);
        Files.write(newest().resolve("checkpoint.json"), new byte[]{0, 0, 0});
        assertThat(CheckpointLoader.newest(settings).number()).isEqualTo(1);
        assertThat(CheckpointLoader.newestNumber(settings)).isEqualTo(2);
    }

    @Test
    void shardDoesNotStartIfAllCheckpointsAreDamaged() throws Exception {
        twoCheckpoints();
        for (Path each : checkpoints()) {
            Files.delete(each.resolve("state-00001-of-00002.safetensors"));
        }
        assertThatThrownBy(() -> start(2)).isInstanceOf(IOException.class)
            .hasMessageContaining("all checkpoints in").hasMessageContaining("are damaged");
    }

    @Test
    void checkpointOfAnotherModelOrOfANewerFormatIsRefused() throws Exception {
        twoCheckpoints();
        assertThatThrownBy(() -> start(context(0, 1).model("other"))).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("is of model 'test', but --model is 'other'");
        assertThatThrownBy(() -> start(context(0, 1).sizeBytes(SIZE + 4))).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("is of a model of " + SIZE + " bytes");
        Path facts = newest().resolve("checkpoint.json");
        Files.writeString(facts, Files.readString(facts).replace("\"format\" : 1", "\"format\" : 2"));
        assertThatThrownBy(() -> start(1)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(
                "has format 2, but modeldisk " + ProgramVersion.TEXT
                    + " reads formats up to 1; use the version of modeldisk that wrote it");
    }

    @Test
    void onlyTheNewestCheckpointsAreKept() throws Exception {
        keep = 2;
        List<ShardModel> shards = start(1);
        for (int round = 1; round <= 5; round++) {
            push(shards.getFirst(), round, 1);
            checkpoint(shards);
        }
        assertThat(checkpoints()).extracting(path -> path.getFileName().toString())
            .containsExactly("checkpoint-000004", "checkpoint-000005");
    }

    @Test
    void checkpointIsTakenAfterEachPeriodInWhichWeightsChanged() throws Exception {
        period = "10s";
        List<ShardModel> shards = start(1);
        push(shards.getFirst(), 1, 1);
        clock.advance(Duration.ofSeconds(9));
        step(shards);
        assertThat(checkpoints()).isEmpty();
        clock.advance(Duration.ofSeconds(1));
        step(shards);
        assertThat(checkpoints()).hasSize(1);
        clock.advance(Duration.ofSeconds(60));
        step(shards);
        assertThat(checkpoints()).as("checkpoints without a push since the last checkpoint").hasSize(1);
    }

    @Test
    void checkpointIsTakenWheneverTheRoundIsAMultipleOfThePeriod() throws Exception {
        period = "3rounds";
        List<ShardModel> shards = start(2);
        List<Long> rounds = new ArrayList<>();
        for (int round = 1; round <= 10; round++) {
            pushAll(shards, round, 1);
            step(shards);
            rounds.add(shards.getFirst().checkpointer().status().round());
        }
        assertThat(rounds).containsExactly(0L, 0L, 3L, 3L, 3L, 6L, 6L, 6L, 9L, 9L);
    }

    @Test
    void trainingContinuesIfACheckpointCannotBeWritten() throws Exception {
        List<ShardModel> shards = start(2);
        push(shards.getFirst(), 1, 1);
        push(shards.get(1), 1, 1);
        long request = shards.getFirst().checkpointer().request();
        shards.getFirst().checkpointer().step();
        Path partial = newest();
        Files.createDirectory(partial.resolve("state-00002-of-00002.safetensors.partial"));
        step(shards);
        CheckpointStatus status = shards.getFirst().checkpointer().status();
        assertThat(status.answered()).isEqualTo(request);
        assertThat(status.failure()).contains("state-00002-of-00002.safetensors.partial");
        push(shards.get(1), 2, 1);
        assertThat(weights(shards.get(1))).containsOnly(2);
        Files.deleteIfExists(partial.resolve("state-00002-of-00002.safetensors.partial"));
        push(shards.getFirst(), 2, 1);
        assertThat(checkpoint(shards).round()).isEqualTo(2);
    }

    @Test
    void checkpointRequestedBeforeAShardRestartedIsNotCompleted() throws Exception {
        consistency = "asp";
        List<ShardModel> shards = start(2);
        push(shards.getFirst(), 1, 1);
        shards.getFirst().checkpointer().request();
        shards.getFirst().checkpointer().step();
        shards.getFirst().checkpointer().step();
        assertThat(newest().getFileName().toString()).matches("checkpoint-000001\\.[0-9a-f]+\\.partial");
        shards.get(1).close();
        open.remove(shards.get(1));
        ShardModel again = start(context(1, 2));
        List<ShardModel> both = List.of(shards.getFirst(), again);
        step(both);
        assertThat(checkpoints()).extracting(path -> path.getFileName().toString())
            .containsExactly("checkpoint-000002");
    }

    @Test
    void processThatMayNoLongerServePublishesNoCheckpoint() throws Exception {
        AtomicInteger questions = new AtomicInteger();
        AtomicBoolean pauses = new AtomicBoolean(true);
        // The permission to serve is refused at every second call, as if another process had become the primary since the call
        // before.
        List<ShardModel> shards = List
            .of(start(context(0, 1).mayServe(() -> !pauses.get() || questions.getAndIncrement() % 2 == 0)));
        push(shards.getFirst(), 1, 1);
        shards.getFirst().checkpointer().request();
        step(shards);
        assertThat(newest().getFileName().toString()).endsWith(".partial");
        assertThat(newest().resolve("state-00001-of-00001.safetensors")).exists();
        pauses.set(false);
        step(shards);
        assertThat(newest().getFileName()).hasToString("checkpoint-000001");
    }

    @Test
    void oneCheckpointCompletesTwoRequestsThatWaitForTheSameRound() throws Exception {
        List<ShardModel> shards = start(2);
        Checkpointer requester = shards.getFirst().checkpointer();
        push(shards.getFirst(), 1, 1);
        long first = requester.request();
        step(shards);
        assertThat(requester.status().answered()).as("shard 1 has not closed round 1").isLessThan(first);
        long second = requester.request();
        step(shards);
        assertThat(requester.status().answered()).isLessThan(first);
        push(shards.get(1), 1, 1);
        step(shards);
        assertThat(requester.status().answered()).isEqualTo(second);
        assertThat(requester.status().failure()).isNull();
        assertThat(requester.status().round()).isEqualTo(1);
        assertThat(checkpoints()).hasSize(1);
    }

    @Test
    void unfinishedCheckpointOfAnotherModelIsNotDeleted() throws Exception {
        List<ShardModel> shards = start(2);
        push(shards.getFirst(), 1, 1);
        shards.getFirst().checkpointer().request();
        shards.getFirst().checkpointer().step();
        assertThat(newest().getFileName().toString()).endsWith(".partial");
        assertThatThrownBy(() -> start(context(0, 1).model("other"))).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("is of model 'test', but --model is 'other'");
        assertThat(newest().resolve("checkpoint.json")).exists();
    }
}
