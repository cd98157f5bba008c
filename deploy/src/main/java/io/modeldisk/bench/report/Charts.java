package io.modeldisk.bench.report;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;
import javax.imageio.ImageIO;
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
    private static final int MARGIN = 16;
    private static final int LEGEND_LINE = 18;
    private static final double HEADROOM = 1.08;
    private static final double PLOT_CONTENT = 0.98;
    private static final int PNG_SCALE = 2;
    private static final Color[] COLOURS = {
        new Color(0x1F77B4), new Color(0xD95F02), new Color(0x1B9E77), new Color(0x7570B3)};

    private Charts() {}

    /** The colour of the line with this number. */
    static Color colour(int index) {
        return COLOURS[index % COLOURS.length];
    }

    /** Draws rows of charts into a file, SVG or PNG as its name ends. */
    static void write(List<List<CategoryChart>> rows, Path file) throws IOException {
        int width = WIDTH * rows.stream().mapToInt(List::size).max().orElse(1);
        int height = HEIGHT * rows.size();
        if (file.toString().toLowerCase(Locale.ROOT).endsWith(".svg")) {
            VectorGraphics2D graphics = new VectorGraphics2D();
            paint(rows, graphics, width, height);
            try (OutputStream out = Files.newOutputStream(file)) {
                new SVGProcessor().getDocument(graphics.getCommands(), new PageSize(0, 0, width, height)).writeTo(out);
            }
        } else {
            BufferedImage image = new BufferedImage(width * PNG_SCALE, height * PNG_SCALE, BufferedImage.TYPE_INT_RGB);
            Graphics2D graphics = image.createGraphics();
            graphics.scale(PNG_SCALE, PNG_SCALE);
            paint(rows, graphics, width, height);
            ImageIO.write(image, "png", file.toFile());
        }
    }

    private static void paint(List<List<CategoryChart>> rows, Graphics2D graphics, int width, int height) {
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, width, height);
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
        Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
        styler.setOverlapped(true);
        styler.setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Line);
        styler.setLegendPosition(Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(Styler.LegendLayout.Horizontal);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setLegendFont(font);
        styler.setLegendSeriesLineLength(LEGEND_LINE);
        styler.setChartPadding(MARGIN);
        // The ends of the y axis are chosen, so there is little to add: as much as its lowest number needs.
        styler.setPlotContentSize(PLOT_CONTENT);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setChartTitleFont(font.deriveFont(Font.BOLD, 14f));
        styler.setPlotGridLinesColor(new Color(0xE3E5E8));
        styler.setPlotBorderVisible(false);
        styler.setAxisTitleFont(font);
        styler.setAxisTickLabelsFont(font.deriveFont(11f));
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
        series.setLineStyle(dashed
            ? new BasicStroke(2, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND, 10, new float[]{5, 5}, 0)
            : new BasicStroke(2, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND));
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
