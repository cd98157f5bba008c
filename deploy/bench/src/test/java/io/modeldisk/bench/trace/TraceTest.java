package io.modeldisk.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.knowm.xchart.XYChart;

final class TraceTest {
    @TempDir
    private Path directory;

    private static byte[] trace(String learner) {
        return """
            {"otherData": {"learner": "%s", "model": "digits", "exchange": "overlap"}, "traceEvents": [
            {"ph": "X", "name": "compute", "ts": 0, "dur": 10000, "args": {"iteration": 1}},
            {"ph": "X", "name": "push", "ts": 10000, "dur": 5000, "args": {"iteration": 1}}]}
            """.formatted(learner).getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void timelineShowsThePhasesOfEachLearner() throws IOException {
        XYChart chart = new Timeline().add("1", trace("a")).add("2", trace("b")).chart();

        assertThat(chart.getTitle()).contains("model digits, exchange overlap");
        assertThat(chart.getSeriesMap()).containsOnlyKeys("compute", "compute of b");
        assertThat(chart.getSeriesMap().get("compute").getXData()).containsExactly(0, 10, 10);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"hello | is not a trace of a mount, since it is not JSON",
        "{} | is not a trace of a mount, since it has no traceEvents",
        "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"pull\"}]} | has no iterations: the learner has not called fsync yet"})
    void errorForAnUnusableTraceNamesTheFile(String text, String message) {
        assertThatThrownBy(() -> new Timeline().add("x.json", text.getBytes(StandardCharsets.UTF_8)))
            .isInstanceOf(IOException.class).hasMessage("x.json " + message);
    }

    private Path file(String name, String lines) throws IOException {
        return Files.writeString(directory.resolve(name), lines);
    }

    @Test
    void everyLineOfAFileIsAPointOfItsCurve() throws IOException {
        Path push = file("push.jsonl", """
            {"seconds": 0, "gigabytesPerSecond": 0.5}
            {"seconds": 2, "gigabytesPerSecond": 2.5}
            """);
        XYChart chart = Curves.chart(List.of(push, file("floor.jsonl", "{\"seconds\": 0, \"gigabytesPerSecond\": 3}")));

        assertThat(chart.getSeriesMap()).containsOnlyKeys("push", "floor");
        assertThat(chart.getSeriesMap().get("push").getYData()).containsExactly(0.5, 2.5);
        assertThat(chart.getSeriesMap().get("push").getLineStyle())
            .isNotEqualTo(chart.getSeriesMap().get("floor").getLineStyle());
    }

    @Test
    void axisOfAccuraciesEndsAtOne() throws IOException {
        XYChart chart = Curves.chart(List.of(file("learner-1.jsonl",
            "{\"iteration\": 1, \"seconds\": 0, \"accuracy\": 0.25}")));

        assertThat(chart.getStyler().getYAxisMax()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"hello,'line 1: the line is not JSON'",
        "'{\"seconds\": 1}','line 1: the line must have the number seconds, and the number accuracy or gigabytesPerSecond'",
        "'','is empty, but must contain lines of JSON'"})
    void malformedOrEmptyFileIsRefused(String text, String words) throws IOException {
        Path file = file("learner-1.jsonl", text);

        assertThatThrownBy(() -> Curves.chart(List.of(file))).isInstanceOf(IOException.class)
            .hasMessageContaining("learner-1.jsonl").hasMessageEndingWith(words);
    }
}
