package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.tuning.Tuning;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests that shards use the transfer sizes in the file that {@code modeldisk tune} writes, or that the option {@code --tuning}
 * names.
 */
final class TuneIT {
    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    /** Starts a shard, waits until the shard is ready, and returns its log. */
    private String logOfShard(Object... options) throws Exception {
        Running shard = sandbox.start("serve", Map.of("MODELDISK_LOG_LEVEL", "info"), modeldisk("serve", "--model", "m",
            "--size", "1m", "--listen", "127.0.0.1:0", options));
        shard.awaitLine("ready: ");
        // Standard error passes through a filter, so it can arrive later than the ready line.
        await("the shard logs its transfer sizes", () -> shard.output().contains("transfer sizes: "));
        return shard.output();
    }

    @Test
    void shardStartedAfterTuneUsesTheMeasuredSizes() throws Exception {
        String output = sandbox.run(modeldisk("tune", "--rounds", "1", "--model-size", "8m")).succeeded();
        Path file = sandbox.path("config").resolve("modeldisk").resolve("tuning.json");

        assertThat(output).containsPattern("tcp +request size +256 KiB").containsPattern("shm +requests in flight +2 ")
            .containsPattern("tcp +4 KiB").containsPattern("tcp: requests of .*, \\d+ in flight, data of writes up to ")
            .contains("written to " + file);
        Tuning tuning = Tuning.read(file);
        assertThat(tuning.byDatamover()).containsKeys("tcp", "shm");
        assertThat(logOfShard()).contains("transfer sizes: of " + file);
    }

    @Test
    void shardUsesTheTuningFileThatItsOptionNames() throws Exception {
        Path file = sandbox.path("mine.json");
        new Tuning("", Map.of()).write(file);

        assertThat(logOfShard("--tuning", file)).contains("transfer sizes: of " + file);
        assertThat(logOfShard()).contains("transfer sizes: built in");
    }
}
