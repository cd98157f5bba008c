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
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the micro-benchmarks of {@code bench protocol} with very short measurements. The tests check that results exist, but not
 * their values.
 */
// The tests run one after another, because each test starts several processes.
@Execution(ExecutionMode.SAME_THREAD)
final class MicroBenchIT {
    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    @ParameterizedTest
    @CsvSource({"latency, latency, 2, '2,4k', ' 50 %'", "fan-in, fanIn, 2, 4k, ''", "mesh, mesh, 2, 64k, ''"})
    void microBenchMeasuresGrpcAndEveryAvailableDatamover(
        String measure, String table, int clients, String sizes, String figure) throws Exception {
        Path json = sandbox.path("figures.json");
        Path svg = sandbox.path("plot.svg");
        Path png = sandbox.path("plot.png");
        String output = sandbox.run(modeldisk("bench", "protocol", "--measures", measure, "--sizes", sizes, "--clients",
            clients, "--rounds", "1", "--duration", "0.01", "--model-size", "1m", "--datamover", "tcp,shm,iser",
            "--out", json + "," + svg + "," + png)).succeeded();

        List<String> names = new ArrayList<>(List.of("tcp", "shm", "gRPC"));
        if (IserProvider.find().unavailabilityCause() == null) {
            names.add("iser");
        } else {
            assertThat(output).contains("iser is not measured: " + IserProvider.find().unavailabilityCause());
        }
        JsonNode rows = new ObjectMapper().readTree(json.toFile()).path(table);
        assertThat(rows.findValuesAsText("direction")).contains("push", "pull");
        for (JsonNode row : rows) {
            for (String name : names) {
                assertThat(row.path(name + figure).path("median").asDouble()).as(name).isPositive();
            }
        }
        assertThat(Files.size(svg)).isPositive();
        assertThat(Files.size(png)).isPositive();
    }
}
