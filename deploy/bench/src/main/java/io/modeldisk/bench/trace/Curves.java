package io.modeldisk.bench.trace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.bench.report.Charts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * A chart of figures over time, with one curve for each file. Each line of a file is a JSON object with {@code seconds} and the
 * figure.
 */
public final class Curves {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WIDTH = 640;
    private static final int HEIGHT = 400;
    /** A file whose name begins with this word contains a limit, which is drawn as a dashed curve. */
    private static final String LIMIT = "floor";
    private static final String SECONDS = "seconds";
    private static final String ACCURACY = "accuracy";
    private static final String THROUGHPUT = "gigabytesPerSecond";

    private Curves() {}

    /**
     * Returns a chart of the accuracies of learners, or of throughputs.
     *
     * @throws IOException if a file cannot be read or a line is malformed; the message names the file
     */
    public static XYChart chart(List<Path> files) throws IOException {
        List<List<JsonNode>> all = new ArrayList<>();
        for (Path file : files) {
            all.add(read(file));
        }
        String figure = all.getFirst().getFirst().has(ACCURACY) ? ACCURACY : THROUGHPUT;
        XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT)
            .title(figure.equals(ACCURACY)
                ? "held-out accuracy of the weights that were read"
                : "throughput of the shards")
            .xAxisTitle(SECONDS).yAxisTitle(figure.equals(ACCURACY) ? ACCURACY : "GB/s").build();
        XYStyler styler = chart.getStyler();
        Charts.dress(styler);
        styler.setXAxisMin(0.0);
        styler.setYAxisMin(0.0);
        if (figure.equals(ACCURACY)) {
            styler.setYAxisMax(1.0);
        }
        for (int i = 0; i < all.size(); i++) {
            String name = files.get(i).getFileName().toString().replaceFirst("\\.[^.]+$", "");
            XYSeries line = chart.addSeries(name, all.get(i).stream().map(point -> point.get(SECONDS).doubleValue())
                .toList(), all.get(i).stream().map(point -> point.path(figure).doubleValue()).toList());
            line.setLineColor(Charts.colour(i));
            line.setLineStyle(name.startsWith(LIMIT) ? SeriesLines.DASH_DASH : SeriesLines.SOLID);
            line.setMarker(SeriesMarkers.NONE);
        }
        return chart;
    }

    private static List<JsonNode> read(Path file) throws IOException {
        List<JsonNode> points = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            String where = file + ", line " + (points.size() + 1) + ": the line ";
            try {
                points.add(JSON.readTree(line));
            } catch (JsonProcessingException e) {
                throw new IOException(where + "is not JSON", e);
            }
            JsonNode point = points.getLast();
            if (!point.path(SECONDS).isNumber()
                || !point.path(ACCURACY).isNumber() && !point.path(THROUGHPUT).isNumber()) {
                throw new IOException(
                    where + "must have the number " + SECONDS + ", and the number " + ACCURACY + " or " + THROUGHPUT);
            }
        }
        if (points.isEmpty()) {
            throw new IOException(file + " is empty, but must contain lines of JSON");
        }
        return points;
    }
}
