package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.fault.checkpoint.Checkpointer;
import io.modeldisk.test.disk.CrashDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Takes checkpoints on a disk that is full or read-only, or that hangs. */
@Timeout(60)
@Tag("mount")
class CheckpointDiskTest extends CheckpointFixture {
    private static final int PAGE = 4096;
    private static final long ENOUGH_BYTES = 1 << 20;

    private CrashDisk disk;

    @BeforeEach
    void mount() throws IOException {
        assumeTrue(Files.isWritable(Path.of("/dev/fuse")), "/dev/fuse is missing");
        disk = CrashDisk.mount(Files.createDirectory(folder.resolve("state")));
        period = "10s";
    }

    @AfterEach
    void unmount() throws IOException {
        closeShards();
        if (disk != null) {
            disk.close();
        }
    }

    private void assertNextPeriodicCheckpointIsComplete(List<ShardModel> shards) throws Exception {
        assertThat(checkpoints()).as("checkpoint folders after the failure").isEmpty();
        pushAll(shards, 2, 1);
        clock.advance(Duration.ofSeconds(10));
        step(shards);
        assertThat(checkpoints()).hasSize(1);
        assertThat(shards.getFirst().checkpointer().status().round()).isEqualTo(2);
        assertThat(shards.getFirst().checkpointer().status().failure()).isNull();
    }

    @Test
    void shardWhoseDiskWasFullTakesTheNextPeriodicCheckpoint() throws Exception {
        List<ShardModel> shards = start(1);
        pushAll(shards, 1, 1);
        long usedBytes = disk.usedBytes();
        disk.capacityBytes(usedBytes + 4 * PAGE);
        shards.getFirst().checkpointer().request();
        shards.getFirst().checkpointer().step();
        assertThat(shards.getFirst().checkpointer().status().failure()).contains("No space left");
        assertThat(disk.usedBytes()).isEqualTo(usedBytes);
        disk.capacityBytes(ENOUGH_BYTES);
        assertNextPeriodicCheckpointIsComplete(shards);
    }

    @Test
    void shardOnAFullDiskReportsTheFailureToShard0() throws Exception {
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        Checkpointer first = shards.getFirst().checkpointer();
        long request = first.request();
        first.step();
        disk.capacityBytes(disk.usedBytes());
        shards.getLast().checkpointer().step();
        assertThat(shards.getLast().checkpointer().status().failure()).contains("No space left");
        first.step();
        assertThat(first.status().answered()).isEqualTo(request);
        assertThat(first.status().failure()).contains("failed-1");
        disk.capacityBytes(ENOUGH_BYTES);
        assertNextPeriodicCheckpointIsComplete(shards);
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "bsp"})
    void shardStopsEvenIfTheDiskHangs(String mode) throws Exception {
        consistency = mode;
        ShardModel shard = start(1).getFirst();
        push(shard, 1, 1);
        shard.startCheckpoints();
        CompletableFuture<Void> stopping = new CompletableFuture<>();
        disk.hangWhile(() -> {
            Thread.ofPlatform().daemon().start(() -> {
                shard.saveLast(() -> {});
                stopping.complete(null);
            });
            await("the shard stops waiting for the disk", () -> {
                clock.advance(Duration.ofMillis(100));
                return stopping.isDone();
            });
        });
    }

    @Test
    void failureOnAReadOnlyDiskIsReportedToShard0OnceTheDiskIsWritable() throws Exception {
        List<ShardModel> shards = start(2);
        pushAll(shards, 1, 1);
        Checkpointer first = shards.getFirst().checkpointer();
        long request = first.request();
        first.step();
        disk.readOnly(true);
        shards.getLast().checkpointer().step();
        shards.getLast().checkpointer().step();
        disk.readOnly(false);
        shards.getLast().checkpointer().step();
        first.step();
        assertThat(first.status().answered()).isEqualTo(request);
        assertThat(first.status().failure()).contains("Read-only");
        assertNextPeriodicCheckpointIsComplete(shards);
    }
}
