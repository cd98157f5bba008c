package io.modeldisk.timeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CurvesTest {
    @TempDir
    private Path directory;
    private Path report;

    @BeforeEach
    void report() {
        report = directory.resolve("learner-1.jsonl");
    }

    @Test
    void everyLineOfAReportIsAPointOfTheLearningCurve() throws IOException {
        Files.writeString(report, """
            {"iteration": 1, "seconds": 0.5, "accuracy": 0.25}
            {"iteration": 10, "seconds": 2, "accuracy": 1}
            """);

        assertThat(Curves.read(Curves.Kind.ACCURACY, List.of(report)).lines()).singleElement()
            .isEqualTo(new Curves.Line("learner-1", List.of(0.5, 2.0), List.of(0.25, 1.0)));
    }

    @Test
    void learningCurveIsDrawnAsSvgAndPng() throws IOException {
        Files.writeString(report, "{\"seconds\": 0, \"accuracy\": 0}\n{\"seconds\": 1, \"accuracy\": 0.9}\n");
        Curves curve = Curves.read(Curves.Kind.ACCURACY, List.of(report));
        Path svg = directory.resolve("a.svg");
        Path png = directory.resolve("a.png");

        curve.write(svg);
        curve.write(png);

        assertThat(svg).content().contains("<svg", "<path");
        BufferedImage image = ImageIO.read(png.toFile());
        assertThat(image.getWidth()).isEqualTo(1280);
        assertThat(image.getRGB(0, 0)).isEqualTo(0xFFFFFFFF);
    }

    @Test
    void throughputsHaveNoUpperLimitAndTheFloorIsALineOfItsOwn() throws IOException {
        Path floor = directory.resolve("floor push.jsonl");
        Files.writeString(report,
            "{\"seconds\": 0, \"gigabytesPerSecond\": 0}\n{\"seconds\": 1, \"gigabytesPerSecond\": 2.5}\n");
        Files.writeString(floor,
            "{\"seconds\": 0, \"gigabytesPerSecond\": 3}\n{\"seconds\": 1, \"gigabytesPerSecond\": 3}\n");
        Path svg = directory.resolve("b.svg");

        Curves curves = Curves.read(Curves.Kind.BANDWIDTH, List.of(report, floor));
        curves.write(svg);

        assertThat(curves.lines()).extracting(Curves.Line::figures).containsExactly(List.of(0.0, 2.5),
            List.of(3.0, 3.0));
        assertThat(svg).content().contains("stroke-dasharray");
    }

    @Test
    void malformedEmptyOrMissingReportOfALearnerIsRefused() throws IOException {
        Files.writeString(report, "{\"seconds\": 0, \"accuracy\": 0}\n{\"seconds\": 1}\n");
        assertThatThrownBy(() -> Curves.read(Curves.Kind.ACCURACY, List.of(report))).isInstanceOf(IOException.class)
            .hasMessageEndingWith("learner-1.jsonl, line 2: the member 'accuracy' is missing or is "
                + "not a number");
        Files.writeString(report, "hello\n");
        assertThatThrownBy(() -> Curves.read(Curves.Kind.ACCURACY, List.of(report)))
            .hasMessageEndingWith("line 1: the line is not JSON");
        Files.writeString(report, "");
        assertThatThrownBy(() -> Curves.read(Curves.Kind.ACCURACY, List.of(report)))
            .hasMessageEndingWith("is empty, but must contain lines of JSON");
        assertThatThrownBy(() -> Curves.read(Curves.Kind.ACCURACY, List.of(directory.resolve("none"))))
            .hasMessageEndingWith("does not exist");
    }
}
