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
 * Figures over time, as one line for each file.
 *
 * @param kind the kind of the figures
 * @param lines the lines, at least one
 */
public record Curves(Kind kind, List<Line> lines) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WIDTH = 640;
    private static final int HEIGHT = 400;
    /** A file whose name begins with this word has a limit, which is drawn as a dashed line. */
    private static final String LIMIT = "floor";

    /** The kinds of figures. */
    public enum Kind {
        /** The accuracy of a learner, from 0 to 1. */
        ACCURACY("accuracy", "held-out accuracy of the weights that were read", "accuracy"),
        /** A throughput in GB/s. */
        BANDWIDTH("gigabytesPerSecond", "throughput of the shards", "GB/s");

        private final String member;
        private final String title;
        private final String axis;

        Kind(String member, String title, String axis) {
            this.member = member;
            this.title = title;
            this.axis = axis;
        }
    }

    /**
     * The content of one file.
     *
     * @param name the name of the file without the extension
     * @param seconds the times, ascending
     * @param figures the figure at each of these times
     */
    public record Line(String name, List<Double> seconds, List<Double> figures) {}

    /**
     * Reads files. Each line of a file is a JSON object with the number {@code seconds} and the figure. Other fields are ignored.
     *
     * @throws IOException if a file cannot be read or a line is malformed; the message names the file
     */
    public static Curves read(Kind kind, List<Path> files) throws IOException {
        List<Line> lines = new ArrayList<>();
        for (Path file : files) {
            lines.add(read(kind, file));
        }
        return new Curves(kind, List.copyOf(lines));
    }

    private static Line read(Kind kind, Path file) throws IOException {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            throw new IOException("the report " + file + " does not exist", e);
        }
        List<Double> seconds = new ArrayList<>();
        List<Double> figures = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            JsonNode line = line(kind, file, i + 1, lines.get(i));
            seconds.add(line.path("seconds").doubleValue());
            figures.add(line.path(kind.member).doubleValue());
        }
        if (seconds.isEmpty()) {
            throw new IOException(file + " is empty, but must contain lines of JSON");
        }
        String name = file.getFileName().toString().replaceFirst("\\.[^.]+$", "");
        return new Line(name, List.copyOf(seconds), List.copyOf(figures));
    }

    private static JsonNode line(Kind kind, Path file, int number, String text) throws IOException {
        JsonNode line;
        try {
            line = JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IOException(file + ", line " + number + ": the line is not JSON", e);
        }
        for (String member : List.of("seconds", kind.member)) {
            if (!line.path(member).isNumber()) {
                throw new IOException(file + ", line " + number + ": the member '" + member
                    + "' is missing or is not a number");
            }
        }
        return line;
    }

    /** Draws the lines into a file. The format is SVG if the name of the file ends in .svg, and PNG otherwise. */
    public void write(Path file) throws IOException {
        XYChart chart = chart();
        PictureFile.write(file, WIDTH, HEIGHT, graphics -> chart.paint(graphics, WIDTH, HEIGHT));
    }

    private XYChart chart() {
        XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT)
            .title(kind.title).xAxisTitle("seconds").yAxisTitle(kind.axis).build();
        XYStyler styler = chart.getStyler();
        ChartLook.dress(styler);
        styler
            .setLegendPosition(kind == Kind.ACCURACY ? Styler.LegendPosition.InsideSE : Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(
            kind == Kind.ACCURACY ? Styler.LegendLayout.Vertical : Styler.LegendLayout.Horizontal);
        styler.setYAxisMin(0.0);
        if (kind == Kind.ACCURACY) {
            styler.setYAxisMax(1.0);
        }
        styler.setXAxisMin(0.0);
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            XYSeries series = chart.addSeries(line.name(), line.seconds(), line.figures());
            series.setLineColor(ChartLook.colour(i));
            series.setLineStyle(ChartLook.stroke(line.name().startsWith(LIMIT)));
            series.setMarker(SeriesMarkers.NONE);
        }
        return chart;
    }
}
