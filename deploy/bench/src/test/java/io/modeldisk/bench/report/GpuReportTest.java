package io.modeldisk.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.bench.report.GpuReport.Folds;
import io.modeldisk.bench.report.GpuReport.Pushes;
import java.util.List;
import org.junit.jupiter.api.Test;

final class GpuReportTest {
    private static GpuReport report(boolean emulated) {
        return new GpuReport("cuda:0 (GPU)", emulated, "sgd:lr=1", 3,
            List.of(new Folds(4096, 64, Samples.of(8e11, 9e11, 1e12), Samples.of(1e12, 1e12, 1e12))),
            List.of(new Pushes(256 << 10, 4, Samples.of(2e10), Samples.of(1.9e10), Samples.of(1.8e10))));
    }

    @Test
    void tablesHaveThroughputsAndRatios() {
        assertThat(report(false).text()).startsWith("sgd:lr=1 on cuda:0 (GPU)\n")
            .contains("a fold reads and writes 3 bytes, and memcpy 2")
            .containsPattern("4 KiB +64 +900.00 +1000.00 +0.90 \\(0.80-1.00\\)\n")
            .containsPattern("256 KiB +4 +20.00 +19.00 +18.00 +0.90 \\(0.90-0.90\\)\n");
    }

    @Test
    void reportOfAnEmulatedDeviceSaysSoInItsFirstLineAndInJson() {
        assertThat(report(true).text()).startsWith("The device is emulated.");
        ObjectNode root = new ObjectMapper().createObjectNode();
        report(true).addTo(root);
        assertThat(root.path("emulated").asBoolean()).isTrue();
        assertThat(root.path("folds").path(0).path("foldOverMemcpy").path("median").asDouble()).isEqualTo(0.9);
        assertThat(root.path("pushes").path(0).path("pushBytesPerSecond").path("median").asDouble()).isEqualTo(1.8e10);
    }
}
