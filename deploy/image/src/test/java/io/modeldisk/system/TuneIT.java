package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.tuning.Tuning;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What {@code modeldisk tune} finds is what shards and mounts use, unless another size is pinned. */
final class TuneIT {
    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    @Test
    void whatWasMeasuredIsKeptWhereShardsLook() throws Exception {
        String output = sandbox.run(modeldisk("tune", "--rounds", "1", "--model-size", "8m")).succeeded();
        Path file = sandbox.path("config").resolve("modeldisk").resolve("tuning.json");

        assertThat(output).contains("tcp, requests of", "shm, requests in flight", "tcp, a push", "kept in " + file);
        Tuning tuning = Tuning.read(file);
        assertThat(tuning.byDatamover()).containsKeys("tcp", "shm");
        assertThat(Command.serve(sandbox, "--model", "m", "--size", "1m").awaitLine("ready: "))
            .endsWith("tuning of " + file);
    }

    @Test
    void whatIsPinnedWinsAndIsSaid() throws Exception {
        Path file = sandbox.path("mine.json");
        new Tuning("", Map.of()).write(file);

        assertThat(Command.serve(sandbox, "--model", "m", "--size", "1m", "--tuning", file, "--eager", "8k")
            .awaitLine("ready: ")).endsWith("tuning of " + file + " but --eager=8192");
        assertThat(Command.serve(sandbox, "--model", "m", "--size", "1m").awaitLine("ready: "))
            .endsWith("tuning built in");
    }

    @Test
    void aFileOfAnotherVersionIsRefused() throws Exception {
        Path file = sandbox.file("foreign.json", "{\"format\": \"modeldisk tuning\", \"version\": 9}");
        Result result = sandbox.run(modeldisk("serve", "--model", "m", "--size", "1m", "--tuning", file));

        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains("is of version 9, here is version 1", "`modeldisk tune` makes a new one");
    }
}
