package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.rdma.Rdma;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The micro-benchmarks from end to end, as short as they can be: what they find is no matter, that they find it is. */
final class MicroBenchIT {
    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    @Test
    void everyDatamoverThatIsThereAndGrpcHaveFiguresInEveryBenchmark() throws Exception {
        Path json = sandbox.path("figures.json");
        Path svg = sandbox.path("plot.svg");
        Path png = sandbox.path("plot.png");
        String output = sandbox.run(modeldisk("bench", "micro", "--latency-sizes", "2,4k", "--clients", "2",
            "--nodes", "2", "--mesh-sizes", "64k", "--rounds", "1", "--duration", "0.01", "--warm-up", "0",
            "--model-size", "1m", "--json", json, "--plot", svg + "," + png)).succeeded();

        assertThat(output).contains("Point to point", "One server", "Fully connected, 2 nodes");
        List<String> ways = new ArrayList<>(List.of("tcp", "shm"));
        if (Rdma.isAvailable()) {
            ways.add("iser");
        } else {
            assertThat(output).contains("iser is not measured: " + Rdma.unavailabilityCause());
        }
        ways.add("gRPC");
        JsonNode figures = new ObjectMapper().readTree(json.toFile());
        assertThat(overs(figures.path("latency"))).isEqualTo(repeated(ways, 4));
        assertThat(overs(figures.path("fanIn"))).isEqualTo(repeated(ways, 2));
        assertThat(overs(figures.path("mesh"))).isEqualTo(repeated(ways, 2));
        assertThat(figures.path("latency")).allMatch(one -> one.path("microseconds").path("p50").asDouble() > 0);
        assertThat(figures.path("fanIn"))
            .allMatch(one -> one.path("requestsPerSecond").path("median").asDouble() > 0);
        assertThat(Files.size(svg)).isPositive();
        assertThat(Files.size(png)).isPositive();
    }

    private static List<String> overs(JsonNode results) {
        List<String> overs = new ArrayList<>();
        results.forEach(result -> overs.add(result.path("over").asText()));
        return overs;
    }

    private static List<String> repeated(List<String> ways, int times) {
        return Stream.generate(() -> ways).limit(times).flatMap(List::stream).toList();
    }

    /** A shard and a mount have their class path to themselves. */
    @Test
    void grpcIsAmongTheLibrariesOfTheBenchesAlone() throws Exception {
        Path libraries = Path.of(System.getProperty("project.root"), "deploy", "target", "modeldisk", "lib");

        assertThat(libraries.resolve("bench")).isDirectoryContaining("glob:**/grpc-*.jar");
        assertThat(libraries).isDirectoryNotContaining("glob:**/{grpc,guava,perfmark}-*.jar");
    }
}
