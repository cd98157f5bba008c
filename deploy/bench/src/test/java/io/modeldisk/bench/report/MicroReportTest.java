package io.modeldisk.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.report.MicroReport.Latency;
import io.modeldisk.bench.report.MicroReport.Rate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MicroReportTest {
    private static final MicroReport REPORT = new MicroReport(64 << 20, List.of("tcp", "gRPC"),
        List.of(latency("tcp", Direction.PUSH, 20_000), latency("gRPC", Direction.PUSH, 90_000),
            latency("tcp", Direction.PULL, 30_000), latency("gRPC", Direction.PULL, 120_000)),
        List.of(rate("tcp", 4, 4096, 30_000), rate("gRPC", 4, 4096, 10_000),
            rate("tcp", 64, 4096, 40_000), rate("gRPC", 64, 4096, 8_000)),
        List.of(rate("tcp", 4, 2_000_000, 2000), rate("gRPC", 4, 2_000_000, 500)),
        List.of("iser is not measured: there is no RDMA device"));

    private static Latency latency(String over, Direction direction, long nanos) {
        Histogram histogram = new Histogram(5);
        histogram.recordValue(nanos);
        return new Latency(over, direction, 2, histogram);
    }

    private static Rate rate(String over, int parties, int bytes, double perSecond) {
        return new Rate(over, Direction.PUSH, parties, bytes, Samples.of(perSecond), 1500, 3000);
    }

    /** Returns the lines of the report, with single blanks between words. */
    private static List<String> lines() {
        return REPORT.text().lines().map(line -> line.strip().replaceAll(" +", " ")).toList();
    }

    @Test
    void everyDatamoverHasAColumnInTheReport() {
        assertThat(lines())
            .contains("direction request tcp 50 % 99 % gRPC 50 % 99 %", "push 2 B 20.0 20.0 90.0 90.0",
                "pull 2 B 30.0 30.0 120.0 120.0")
            .contains("direction clients tcp gRPC tcp / gRPC", "push 4 30000 10000 3.00 (3.00-3.00)",
                "push 64 40000 8000 5.00 (5.00-5.00)");
    }

    /** Four nodes together complete 2000 requests a second. A request has 2 MB, so each node moves 1 GB/s. */
    @Test
    void meshTableShowsTheThroughputOfOneNode() {
        assertThat(lines()).contains("direction request tcp ms gRPC ms tcp / gRPC",
            "push 2000000 B 1.00 1.50 0.25 1.50 4.00 (4.00-4.00)");
    }

    @Test
    void reportHasNotesAboutUnmeasuredDatamoversAndSmallRequests() {
        assertThat(lines()).contains("iser is not measured: there is no RDMA device")
            .anyMatch(line -> line.startsWith("below 4 KiB: a push moves a logical block"));
    }

    @Test
    void plotAndJsonContainEveryMicroBenchmark(@TempDir Path directory) throws IOException {
        Path plot = directory.resolve("plot.svg");
        Path json = directory.resolve("figures.json");

        ReportFiles.writePlot(REPORT, plot);
        ReportFiles.writeJson(REPORT, json);

        // The plot has three rows of two charts.
        assertThat(Files.readString(plot)).contains("viewBox=\"0 0 920 1020\"");
        assertThat(Files.readString(json)).contains("\"latency\"", "\"fanIn\"", "\"mesh\"", "\"over\" : \"gRPC\"",
            "\"notes\"");
    }
}
