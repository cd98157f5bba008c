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

/** How the charts of the benchmarks look, and how a sheet of them becomes a file. */
final class Charts {
    static final Color GREY = new Color(0x8A8F98);

    private static final int WIDTH = 460;
    private static final int HEIGHT = 340;
    private static final double HEADROOM = 1.08;
    private static final double PLOT_CONTENT = 0.98;

    private Charts() {}

    /** Draws rows of charts into a file, SVG or PNG as its name ends. */
    static void write(List<List<CategoryChart>> rows, Path file) throws IOException {
        int width = WIDTH * rows.stream().mapToInt(List::size).max().orElse(1);
        int height = HEIGHT * rows.size();
        PictureFile.write(file, width, height, graphics -> paint(rows, graphics));
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

    /** An empty chart. */
    static CategoryChart chart(String title, String xAxis, String yAxis) {
        CategoryChart chart = new CategoryChartBuilder().width(WIDTH).height(HEIGHT).title(title)
            .xAxisTitle(xAxis).yAxisTitle(yAxis).build();
        CategoryStyler styler = chart.getStyler();
        ChartLook.dress(styler);
        styler.setOverlapped(true);
        styler.setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Line);
        styler.setLegendPosition(Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(Styler.LegendLayout.Horizontal);
        // The ends of the y axis are chosen, so there is little to add: as much as its lowest number needs.
        styler.setPlotContentSize(PLOT_CONTENT);
        return chart;
    }

    /** Adds a line. */
    static void line(
        CategoryChart chart, String name, List<String> x, List<Double> y, Color colour, boolean dashed) {
        CategorySeries series = chart.addSeries(name, x, y);
        series.setLineColor(colour);
        // A marker would hide the dashes in the legend; of a single point it is all there is to see.
        series.setMarker(dashed && x.size() > 1 ? SeriesMarkers.NONE : SeriesMarkers.CIRCLE);
        series.setMarkerColor(colour);
        series.setLineStyle(ChartLook.stroke(dashed));
    }

    /** Lets the axis begin at zero. */
    static void fromZero(CategoryChart chart) {
        chart.getStyler().setYAxisMin(0.0);
        chart.getStyler().setYAxisMax(HEADROOM * shown(chart).max().orElseThrow());
    }

    /** Gives the axis whole decades, so that both of its ends have a number. */
    static void logarithmic(CategoryChart chart) {
        CategoryStyler styler = chart.getStyler();
        styler.setYAxisLogarithmic(true);
        styler.setYAxisDecimalPattern("#,##0");
        styler.setYAxisMin(Math.pow(10, Math.floor(Math.log10(shown(chart).min().orElseThrow()))));
        styler.setYAxisMax(Math.pow(10, Math.ceil(Math.log10(shown(chart).max().orElseThrow()))));
    }

    /** Every figure of a chart. */
    private static DoubleStream shown(CategoryChart chart) {
        return chart.getSeriesMap().values().stream()
            .flatMapToDouble(series -> series.getYData().stream().mapToDouble(Number::doubleValue));
    }
}
