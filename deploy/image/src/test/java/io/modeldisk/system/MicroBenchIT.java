package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.datamover.IserProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs the micro-benchmarks with the shortest possible measurements. The tests check that results exist, but not how good they
 * are.
 */
// The tests run one after another, because each test starts several processes.
@Execution(ExecutionMode.SAME_THREAD)
final class MicroBenchIT {
    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    @ParameterizedTest
    @CsvSource({"latency, latency, 4, Point to point", "fan-in, fanIn, 2, One server",
        "mesh, mesh, 2, 'Fully connected, 2 nodes'"})
    void microBenchMeasuresGrpcAndEveryAvailableDatamover(String measure, String key, int lines, String title)
        throws Exception {
        Path json = sandbox.path("figures.json");
        Path svg = sandbox.path("plot.svg");
        Path png = sandbox.path("plot.png");
        String output = sandbox.run(modeldisk("bench", "micro", "--measures", measure, "--latency-sizes", "2,4k",
            "--clients", "2", "--nodes", "2", "--mesh-sizes", "64k", "--rounds", "1", "--duration", "0.01",
            "--warm-up", "0", "--model-size", "1m", "--json", json, "--plot", svg + "," + png)).succeeded();

        assertThat(output).contains(title);
        List<String> ways = new ArrayList<>(List.of("tcp", "shm"));
        if (IserProvider.find().isAvailable()) {
            ways.add("iser");
        } else {
            assertThat(output).contains("iser is not measured: " + IserProvider.find().unavailabilityCause());
        }
        ways.add("gRPC");
        JsonNode figures = new ObjectMapper().readTree(json.toFile()).path(key);
        assertThat(overs(figures)).isEqualTo(repeated(ways, lines));
        assertThat(figures).allMatch(one -> one.path("microseconds").path("p50").asDouble() > 0
            || one.path("requestsPerSecond").path("median").asDouble() > 0);
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
}
