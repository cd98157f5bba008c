package io.modeldisk.bench.report;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import io.modeldisk.bench.load.Direction;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import javax.imageio.ImageIO;
import org.HdrHistogram.Histogram;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** A plot of throughput and latency over the size of requests, as SVG or PNG. */
public final class Plot {
    private static final int WIDTH = 460;
    private static final int HEIGHT = 340;
    private static final int PNG_SCALE = 2;
    private static final double MICRO = 1e3;
    private static final String THROUGHPUT_UNIT = "GB/s";
    private static final String FLOOR = "bare sockets";
    private static final Color GREY = new Color(0x8A8F98);
    private static final Color[] COLOURS = {
        new Color(0x1F77B4), new Color(0xD95F02), new Color(0x1B9E77), new Color(0x7570B3)};

    private Plot() {}

    /**
     * Checks that a file can be plotted to, before anything is measured.
     *
     * @throws IllegalArgumentException if its name does not end in .svg or .png
     */
    public static void check(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (!name.endsWith(".svg") && !name.endsWith(".png")) {
            throw new IllegalArgumentException("--plot " + file + " must end in .svg or .png");
        }
    }

    /** Draws what was found. */
    public static void write(ProtocolReport report, Path file) throws IOException {
        List<List<CategoryChart>> rows = charts(report);
        int width = WIDTH * rows.stream().mapToInt(List::size).max().orElse(1);
        int height = HEIGHT * rows.size();
        if (file.toString().toLowerCase(Locale.ROOT).endsWith(".svg")) {
            VectorGraphics2D graphics = new VectorGraphics2D();
            paint(rows, graphics);
            try (OutputStream out = Files.newOutputStream(file)) {
                new SVGProcessor().getDocument(graphics.getCommands(), new PageSize(0, 0, width, height)).writeTo(out);
            }
        } else {
            BufferedImage image = new BufferedImage(width * PNG_SCALE, height * PNG_SCALE, BufferedImage.TYPE_INT_RGB);
            Graphics2D graphics = image.createGraphics();
            graphics.setColor(Color.WHITE);
            graphics.fillRect(0, 0, image.getWidth(), image.getHeight());
            graphics.scale(PNG_SCALE, PNG_SCALE);
            paint(rows, graphics);
            ImageIO.write(image, "png", file.toFile());
        }
    }

    private static void paint(List<List<CategoryChart>> rows, Graphics2D graphics) {
        for (int row = 0; row < rows.size(); row++) {
            for (int column = 0; column < rows.get(row).size(); column++) {
                Graphics2D place = (Graphics2D) graphics.create();
                place.translate(column * WIDTH, row * HEIGHT);
                rows.get(row).get(column).paint(place, WIDTH, HEIGHT);
                place.dispose();
            }
        }
    }

    /** A row for each queue depth, a chart for each direction; below them latency. */
    private static List<List<CategoryChart>> charts(ProtocolReport report) {
        List<List<CategoryChart>> rows = new ArrayList<>();
        for (int depth : report.throughput().stream().map(ThroughputResult::queueDepth).distinct().toList()) {
            List<CategoryChart> row = new ArrayList<>();
            for (Direction direction : Direction.values()) {
                List<ThroughputResult> shown = report.throughput().stream()
                    .filter(result -> result.queueDepth() == depth && result.direction() == direction).toList();
                if (!shown.isEmpty()) {
                    row.add(throughput(direction, depth, shown));
                }
            }
            rows.add(row);
        }
        List<CategoryChart> row = new ArrayList<>();
        for (Direction direction : Direction.values()) {
            List<LatencyResult> shown = report.latency().stream().filter(result -> result.direction() == direction)
                .toList();
            if (!shown.isEmpty()) {
                row.add(latency(direction, shown));
            }
        }
        if (!row.isEmpty()) {
            rows.add(row);
        }
        return rows;
    }

    private static CategoryChart throughput(Direction direction, int depth, List<ThroughputResult> results) {
        String name = direction == Direction.BOTH ? "push and pull at once" : name(direction);
        CategoryChart chart = chart("%s, %d requests deep".formatted(name, depth), THROUGHPUT_UNIT);
        List<String> aggregators = results.stream().map(ThroughputResult::aggregator).distinct().toList();
        List<ThroughputResult> first = of(aggregators.getFirst(), results);
        Function<List<ThroughputResult>, List<String>> sizes = shown -> shown.stream()
            .map(result -> Units.size(result.requestBytes())).toList();
        line(chart, FLOOR, sizes.apply(first), figures(first, result -> result.floor().median()), GREY, true);
        for (int i = 0; i < aggregators.size(); i++) {
            List<ThroughputResult> shown = of(aggregators.get(i), results);
            line(chart, aggregators.get(i), sizes.apply(shown), figures(shown, result -> result.protocol().median()),
                COLOURS[i % COLOURS.length], false);
        }
        return chart;
    }

    private static List<ThroughputResult> of(String aggregator, List<ThroughputResult> results) {
        return results.stream().filter(result -> result.aggregator().equals(aggregator)).toList();
    }

    private static List<Double> figures(List<ThroughputResult> results, ToDoubleFunction<ThroughputResult> figure) {
        return results.stream().map(result -> Units.gigabytes(figure.applyAsDouble(result))).toList();
    }

    private static CategoryChart latency(Direction direction, List<LatencyResult> results) {
        CategoryChart chart = chart("latency of a " + name(direction), "microseconds");
        chart.getStyler().setYAxisLogarithmic(true);
        chart.getStyler().setYAxisDecimalPattern("#,##0");
        List<String> sizes = results.stream().map(result -> Units.size(result.requestBytes())).toList();
        line(chart, "sockets 50 %", sizes, percentile(results, LatencyResult::floor, 50), GREY, false);
        line(chart, "sockets 99 %", sizes, percentile(results, LatencyResult::floor, 99), GREY, true);
        line(chart, "protocol 50 %", sizes, percentile(results, LatencyResult::protocol, 50), COLOURS[0], false);
        line(chart, "protocol 99 %", sizes, percentile(results, LatencyResult::protocol, 99), COLOURS[0], true);
        return chart;
    }

    private static List<Double> percentile(
        List<LatencyResult> results, Function<LatencyResult, Histogram> side, double percent) {
        return results.stream().map(result -> side.apply(result).getValueAtPercentile(percent) / MICRO).toList();
    }

    private static CategoryChart chart(String title, String yAxis) {
        CategoryChart chart = new CategoryChartBuilder().width(WIDTH).height(HEIGHT).title(title)
            .xAxisTitle("size of a request").yAxisTitle(yAxis).build();
        CategoryStyler styler = chart.getStyler();
        Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
        styler.setOverlapped(true);
        styler.setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Line);
        styler.setLegendPosition(Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(Styler.LegendLayout.Horizontal);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setLegendFont(font);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setChartTitleFont(font.deriveFont(Font.BOLD, 14f));
        styler.setPlotGridLinesColor(new Color(0xE3E5E8));
        styler.setPlotBorderVisible(false);
        styler.setAxisTitleFont(font);
        styler.setAxisTickLabelsFont(font.deriveFont(11f));
        styler.setYAxisMin(yAxis.equals(THROUGHPUT_UNIT) ? 0.0 : null);
        return chart;
    }

    private static void line(
        CategoryChart chart, String name, List<String> x, List<Double> y, Color colour, boolean dashed) {
        CategorySeries series = chart.addSeries(name, x, y);
        series.setLineColor(colour);
        series.setMarker(SeriesMarkers.CIRCLE);
        series.setMarkerColor(colour);
        series.setLineStyle(dashed
            ? new BasicStroke(2, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND, 10, new float[]{5, 5}, 0)
            : new BasicStroke(2, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND));
    }

    private static String name(Direction direction) {
        return direction.name().toLowerCase(Locale.ROOT);
    }
}
