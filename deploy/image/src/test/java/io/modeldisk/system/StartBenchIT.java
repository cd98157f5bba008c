package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class StartBenchIT {
    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    @Test
    void startBenchComparesAShardWithAMemset() throws Exception {
        Programs.require("gcc", "gcc");
        Path json = sandbox.path("start.json");
        assertThat(
            sandbox.run(modeldisk("bench", "start", "--size", "8MiB", "--pairs", "1", "--json", json)).succeeded())
            .contains("shard until ready, asp", "memset, one thread in C");
        JsonNode figures = new ObjectMapper().readTree(json.toFile());
        assertThat(figures.path("shardSeconds").path("median").asDouble()).isPositive();
        assertThat(figures.path("memsetSeconds").path("median").asDouble()).isPositive();
    }

    @Test
    void startBenchMeasuresTheCommandsBesideJava() throws Exception {
        Programs.requireMounting();
        Path json = sandbox.path("commands.json");
        assertThat(sandbox.run(modeldisk("bench", "start", "--commands", "--pairs", "1", "--json", json)).succeeded())
            .contains("java --version", "modeldisk --help", "modeldisk serve, 4 MiB, until ready",
                "modeldisk mount, until ready");
        JsonNode figures = new ObjectMapper().readTree(json.toFile());
        for (String command : List.of("java", "help", "serve", "mount")) {
            assertThat(figures.path(command + "Seconds").path("median").asDouble()).as(command).isPositive();
        }
    }

    @Test
    void startBenchRefusesMoreMemoryThanTheMachineHas() throws Exception {
        assertThat(sandbox.run(modeldisk("bench", "start", "--size", "1024TiB")).output())
            .contains("--size 1125899906842624 is more than the memory", "GiB available");
    }
}
