package io.modeldisk.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TrainingReportTest {
    private static final TrainingReport REPORT = new TrainingReport("LSTM", "2 learners", "LSTM", 1 << 20,
        List.of(result("direct", 30), result("overlap:adaptive", 11)), Map.of());

    @TempDir
    private Path directory;

    private static TrainingResult result(String exchange, double iterationMs) {
        return new TrainingResult(exchange, iterationMs, iterationMs, iterationMs, 10, 0, iterationMs - 10, 8, 0, 12, 5,
            1, 2);
    }

    @Test
    void trainingReportDividesIterationTimeByComputeTimeAndByTheLongestPhase() {
        assertThat(REPORT.text().lines().map(line -> line.strip().replaceAll(" +", " ")))
            .contains("overlap:adaptive 11.00 11.00 10.00 0.00 1.00 8.00 0.00 12.00 1.100 0.917 5.00 1.00 1.82 of 2");
    }

    @Test
    void repeatedMeasurementsAreAveragedAndComparedWithThoseInMemory() {
        TrainingReport report = TrainingReport.of("LSTM", "2 learners", "LSTM", 1 << 20,
            List.of(List.of(result("sync", 10), result("sync, journal", 30)),
                List.of(result("sync", 20), result("sync, journal", 20)),
                List.of(result("sync", 30), result("sync, journal", 61))),
            Map.of("sync, journal", "sync"));
        assertThat(report.results()).extracting(TrainingResult::iterationMs).containsExactly(20.0, 37.0);
        assertThat(report.text()).contains("x without", "2.03 (1.00-3.00)");
    }

    @Test
    void plotHasTheFormatOfItsFileExtension() throws IOException {
        Path svg = directory.resolve("plot.svg");
        Path png = directory.resolve("plot.png");

        ReportFiles.writePlot(REPORT, svg);
        ReportFiles.writePlot(REPORT, png);

        assertThat(svg).content().contains("<svg");
        assertThat(Files.readAllBytes(png)).startsWith(0x89, 'P', 'N', 'G');
    }

    @Test
    void jsonReportContainsTheFiguresAndADescriptionOfTheMachine() throws IOException {
        Path json = directory.resolve("figures.json");

        ReportFiles.writeJson(REPORT, json);

        assertThat(json).content().contains("\"benchmark\" : \"training\"", "\"processors\"", "\"overLongest\"",
            "\"exchange\" : \"overlap:adaptive\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"plot", "plot.pdf", "svg"})
    void plotFileThatIsNeitherSvgNorPngIsRefused(String name) {
        assertThatThrownBy(() -> ReportFiles.checkPlot(Path.of(name))).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("--plot " + name + " must end in .svg or .png");
    }
}
