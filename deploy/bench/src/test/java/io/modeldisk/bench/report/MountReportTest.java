package io.modeldisk.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.report.MountReport.Rate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MountReportTest {
    private static final MountReport REPORT = new MountReport(64 << 20, List.of("kernel"), List.of("tcp"),
        List.of(rate("kernel", "", Direction.PUSH, 6), rate("kernel", "tcp", Direction.PUSH, 1.6),
            rate("", "tcp", Direction.PUSH, 3), rate("kernel", "", Direction.PULL, 8),
            rate("kernel", "tcp", Direction.PULL, 2), rate("", "tcp", Direction.PULL, 4)),
        List.of(times("direct", "mount", 300), times("sync", "mount", 200), times("sync", "mapped", 0.5)),
        List.of("jnr is not measured: a library is missing"));

    private static Rate rate(String binding, String datamover, Direction direction, double gigabytesPerSecond) {
        return new Rate(binding, datamover, direction, 8, 262_144, Samples.of(gigabytesPerSecond * 1e9));
    }

    private static LearnerTimes times(String exchange, String through, double fileMs) {
        return new LearnerTimes(exchange, "tcp", through, Samples.of(200), Samples.of(fileMs), Samples.of(100),
            Samples.of(300 + fileMs));
    }

    /** Each byte passes the file and the protocol: 1 / (1/6 + 1/3) = 2, and 1.6 is 0.8 of it. */
    @Test
    void tableShowsTheRatiosToTheNullFileAndToBothStages() {
        assertThat(REPORT.text().lines().map(line -> line.strip().replaceAll(" +", " "))).contains(
            "call in flight size null protocol tcp tcp tcp / null tcp / series",
            "write 8 256 KiB 6.00 3.00 1.60 0.27 (0.27-0.27) 0.80 (0.80-0.80)",
            "read 8 256 KiB 8.00 4.00 2.00 0.25 (0.25-0.25) 0.75 (0.75-0.75)",
            "jnr is not measured: a library is missing");
    }

    @Test
    void tableShowsTheLearnersTimeWithMappedBuffersBesideReadAndWrite() {
        assertThat(REPORT.text().lines().map(line -> line.strip().replaceAll(" +", " "))).contains(
            "ms of a learner of 64 MiB, binding kernel, medians",
            "direct tcp 300.00 - - 600.00 -", "sync tcp 200.00 0.50 0.0025 500.00 300.50",
            "iteration: this time, 200 ms of computation, and fsync.");
    }

    @Test
    void plotAndJsonContainEveryVariant(@TempDir Path directory) throws IOException {
        Path plot = directory.resolve("plot.svg");
        Path json = directory.resolve("figures.json");

        ReportFiles.writePlot(REPORT, plot);
        ReportFiles.writeJson(REPORT, json);

        // The plot has one row of two charts, and below it the chart of the learner.
        assertThat(Files.readString(plot)).contains("viewBox=\"0 0 1240 680\"");
        assertThat(Files.readString(json)).contains("\"binding\" : \"none\"", "\"datamover\" : \"none\"", "\"notes\"",
            "\"through\" : \"mapped\"");
    }
}
