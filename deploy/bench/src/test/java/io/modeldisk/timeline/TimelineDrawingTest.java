package io.modeldisk.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TimelineDrawingTest {
    @Test
    void timelineShowsTheNameOfItsLearnerAndColouredPhases(@TempDir Path directory) throws IOException {
        Path trace = Files.writeString(directory.resolve("trace.json"), """
            {"otherData": {"learner": "learner 1", "model": "digits", "exchange": "overlap"}, "traceEvents": [
            {"ph": "X", "name": "compute", "ts": 0, "dur": 10000, "args": {"iteration": 1}},
            {"ph": "X", "name": "push", "ts": 10000, "dur": 5000, "args": {"iteration": 1}}]}
            """);
        Timeline timeline = Timeline.read(List.of(trace));
        TimelineDrawing drawing = new TimelineDrawing(timeline, timeline.last(1));
        Path svg = directory.resolve("timeline.svg");
        Path png = directory.resolve("timeline.png");

        drawing.write(svg);
        drawing.write(png);

        assertThat(svg).content().contains("learner 1", "model digits, exchange overlap");
        BufferedImage image = ImageIO.read(png.toFile());
        assertThat(image.getRGB(2 * 600, 2 * 80)).isEqualTo(0xFF3D6A99);
    }
}
