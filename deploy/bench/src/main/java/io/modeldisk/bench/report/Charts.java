package io.modeldisk.bench.report;

import io.modeldisk.picture.ChartLook;
import io.modeldisk.picture.PictureFile;
import java.awt.Color;
import java.awt.Graphics2D;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.DoubleStream;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Creates the charts of benchmarks and writes them to files. */
final class Charts {
    static final Color GREY = new Color(0x8A8F98);

    private static final int WIDTH = 460;
    private static final int HEIGHT = 340;
    private static final int LEGEND_WIDTH = 160;
    private static final double HEADROOM = 1.08;
    private static final double PLOT_CONTENT = 0.98;

    private Charts() {}

    /** Draws charts, arranged in rows, into a file. */
    static void write(List<List<CategoryChart>> rows, Path file) throws IOException {
        int width = rows.stream().mapToInt(row -> row.stream().mapToInt(CategoryChart::getWidth).sum()).max()
            .orElse(WIDTH);
        int height = rows.stream().mapToInt(Charts::height).sum();
        PictureFile.write(file, width, height, graphics -> paint(rows, graphics));
    }

    private static int height(List<CategoryChart> row) {
        return row.stream().mapToInt(CategoryChart::getHeight).max().orElse(0);
    }

    private static void paint(List<List<CategoryChart>> rows, Graphics2D graphics) {
        int y = 0;
        for (List<CategoryChart> row : rows) {
            int x = 0;
            for (CategoryChart chart : row) {
                Graphics2D place = (Graphics2D) graphics.create();
                place.translate(x, y);
                chart.paint(place, chart.getWidth(), chart.getHeight());
                place.dispose();
                x += chart.getWidth();
            }
            y += height(row);
        }
    }

    /** Creates an empty chart of stacked bars. */
    static CategoryChart bars(String title, String xAxis, String yAxis) {
        CategoryChart chart = new CategoryChartBuilder().width(2 * WIDTH).height(HEIGHT).title(title)
            .xAxisTitle(xAxis).yAxisTitle(yAxis).build();
        CategoryStyler styler = chart.getStyler();
        ChartLook.dress(styler);
        styler.setStacked(true);
        styler.setDecimalPattern("#,##0.#");
        styler.setLabelsVisible(true);
        styler.setShowStackSum(true);
        styler.setLegendPosition(Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(Styler.LegendLayout.Horizontal);
        return chart;
    }

    /** Adds a series to a chart. The series is one part of every bar. */
    static void bar(CategoryChart chart, String name, List<String> x, List<Double> y, int colour) {
        chart.addSeries(name, x, y).setFillColor(ChartLook.colour(colour));
    }

    /** Creates an empty chart of lines, with the legend on the right. */
    static CategoryChart chartOfManyLines(String title, String xAxis, String yAxis) {
        CategoryChart chart = chart(WIDTH + LEGEND_WIDTH, title, xAxis, yAxis);
        chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
        chart.getStyler().setLegendLayout(Styler.LegendLayout.Vertical);
        return chart;
    }

    /** Creates an empty chart of lines. */
    static CategoryChart chart(String title, String xAxis, String yAxis) {
        return chart(WIDTH, title, xAxis, yAxis);
    }

    private static CategoryChart chart(int width, String title, String xAxis, String yAxis) {
        CategoryChart chart = new CategoryChartBuilder().width(width).height(HEIGHT).title(title)
            .xAxisTitle(xAxis).yAxisTitle(yAxis).build();
        CategoryStyler styler = chart.getStyler();
        ChartLook.dress(styler);
        styler.setOverlapped(true);
        styler.setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Line);
        styler.setLegendPosition(Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(Styler.LegendLayout.Horizontal);
        // The plot does not fill the whole chart, so that the lowest number of the y axis stays visible.
        styler.setPlotContentSize(PLOT_CONTENT);
        return chart;
    }

    /** Adds a line to a chart. */
    static void line(
        CategoryChart chart, String name, List<String> x, List<Double> y, Color colour, boolean dashed) {
        CategorySeries series = chart.addSeries(name, x, y);
        series.setLineColor(colour);
        // Dashed lines have no marker, since it would hide the dashes. A line of one point needs a marker to be visible.
        series.setMarker(dashed && x.size() > 1 ? SeriesMarkers.NONE : SeriesMarkers.CIRCLE);
        series.setMarkerColor(colour);
        series.setLineStyle(ChartLook.stroke(dashed));
    }

    /** Makes the y axis start at zero. */
    static void fromZero(CategoryChart chart) {
        chart.getStyler().setYAxisMin(0.0);
        chart.getStyler().setYAxisMax(HEADROOM * shown(chart).max().orElseThrow());
    }

    /** Makes the y axis logarithmic. The axis starts and ends at powers of ten, so that both ends have a label. */
    static void logarithmic(CategoryChart chart) {
        CategoryStyler styler = chart.getStyler();
        styler.setYAxisLogarithmic(true);
        styler.setYAxisDecimalPattern("#,##0.####");
        styler.setYAxisMin(Math.pow(10, Math.floor(Math.log10(shown(chart).min().orElseThrow()))));
        styler.setYAxisMax(Math.pow(10, Math.ceil(Math.log10(shown(chart).max().orElseThrow()))));
    }

    private static DoubleStream shown(CategoryChart chart) {
        return chart.getSeriesMap().values().stream()
            .flatMapToDouble(series -> series.getYData().stream().mapToDouble(Number::doubleValue));
    }
}
