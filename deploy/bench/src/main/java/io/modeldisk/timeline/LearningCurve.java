package io.modeldisk.timeline;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.picture.ChartLook;
import io.modeldisk.picture.PictureFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * The accuracy of learners over time.
 *
 * @param learners the learners, at least one
 */
public record LearningCurve(List<Learner> learners) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WIDTH = 640;
    private static final int HEIGHT = 400;

    /**
     * The report of one learner.
     *
     * @param name the name of the report's file without the extension
     * @param seconds the times since the start of the learner, ascending
     * @param accuracy the accuracy at each of these times, from 0 to 1
     */
    public record Learner(String name, List<Double> seconds, List<Double> accuracy) {}

    /**
     * Reads the reports of learners. Each line of a file is a JSON object with the numbers {@code seconds} and {@code accuracy}.
     * Other fields are ignored.
     *
     * @throws IOException if a file cannot be read or a line is malformed; the message names the file
     */
    public static LearningCurve read(List<Path> files) throws IOException {
        List<Learner> learners = new ArrayList<>();
        for (Path file : files) {
            learners.add(learner(file));
        }
        return new LearningCurve(List.copyOf(learners));
    }

    private static Learner learner(Path file) throws IOException {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            throw new IOException("the report " + file + " does not exist", e);
        }
        List<Double> seconds = new ArrayList<>();
        List<Double> accuracy = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            JsonNode line = line(file, i + 1, lines.get(i));
            seconds.add(line.path("seconds").doubleValue());
            accuracy.add(line.path("accuracy").doubleValue());
        }
        if (seconds.isEmpty()) {
            throw new IOException(file + " is empty, but must contain lines of JSON");
        }
        String name = file.getFileName().toString().replaceFirst("\\.[^.]+$", "");
        return new Learner(name, List.copyOf(seconds), List.copyOf(accuracy));
    }

    private static JsonNode line(Path file, int number, String text) throws IOException {
        JsonNode line;
        try {
            line = JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IOException(file + ", line " + number + ": the line is not JSON", e);
        }
        for (String member : List.of("seconds", "accuracy")) {
            if (!line.path(member).isNumber()) {
                throw new IOException(file + ", line " + number + ": the member '" + member
                    + "' is missing or is not a number");
            }
        }
        return line;
    }

    /** Draws the learning curve into a file. The format is SVG if the name of the file ends in .svg, and PNG otherwise. */
    public void write(Path file) throws IOException {
        XYChart chart = chart();
        PictureFile.write(file, WIDTH, HEIGHT, graphics -> chart.paint(graphics, WIDTH, HEIGHT));
    }

    private XYChart chart() {
        XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT)
            .title("held-out accuracy of the weights that were read")
            .xAxisTitle("seconds").yAxisTitle("accuracy").build();
        XYStyler styler = chart.getStyler();
        ChartLook.dress(styler);
        styler.setLegendPosition(Styler.LegendPosition.InsideSE);
        styler.setYAxisMin(0.0);
        styler.setYAxisMax(1.0);
        styler.setXAxisMin(0.0);
        for (int i = 0; i < learners.size(); i++) {
            Learner learner = learners.get(i);
            XYSeries series = chart.addSeries(learner.name(), learner.seconds(), learner.accuracy());
            series.setLineColor(ChartLook.colour(i));
            series.setLineStyle(ChartLook.stroke(false));
            series.setMarker(SeriesMarkers.NONE);
        }
        return chart;
    }
}
