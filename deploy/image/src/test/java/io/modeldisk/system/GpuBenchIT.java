package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code bench aggregator --device} with and without an emulated driver. */
final class GpuBenchIT {
    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    @ParameterizedTest
    @CsvSource({"adam:lr=0.001,7", "assign,2"})
    void benchOnAnEmulatedDeviceReportsEveryBlockSizeWithoutThroughput(String aggregator, int bytesPerByte)
        throws Exception {
        Path json = sandbox.path("gpu.json");
        String text = sandbox.run(EmulatedDriver.environment(), modeldisk("bench", "aggregator", "--device",
            "cuda:0", "--aggregator", aggregator, "--out", json)).succeeded();

        assertThat(text).contains("The device is emulated", aggregator + " on cuda:0 (emulated 0)")
            .doesNotContain("GB/s");
        JsonNode report = new ObjectMapper().readTree(json.toFile());
        assertThat(report.path("foldBytesPerByte").asInt()).isEqualTo(bytesPerByte);
        assertThat(report.path("emulated").asBoolean()).isTrue();
        assertThat(report.path("blocks").findValuesAsText("block")).containsExactly("4096", "16384", "65536", "262144",
            "1048576");
    }

    @ParameterizedTest
    @CsvSource({"cuda:1,sgd:lr=1,there is no device cuda:1; this machine has only cuda:0",
        "gpu,sgd:lr=1,the device \"gpu\" must be a kind and a number",
        "cuda:0,null,the aggregator null does nothing on a device"})
    void benchRefusesADeviceOrAggregatorThatItCannotMeasure(String device, String aggregator, String message)
        throws Exception {
        sandbox.run(EmulatedDriver.environment(), modeldisk("bench", "aggregator", "--device", device, "--aggregator",
            aggregator)).failed(2, "modeldisk aggregator: " + message);
    }

    @Test
    void benchReportsThatCudaIsNotAvailable() throws Exception {
        sandbox.run(Map.of("JDK_JAVA_OPTIONS", "-Dmodeldisk.cuda=off"),
            modeldisk("bench", "aggregator", "--device", "cuda:0"))
            .failed(1, "modeldisk aggregator: CUDA is not available: CUDA is turned off by -Dmodeldisk.cuda=off");
    }
}
