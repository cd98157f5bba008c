package io.modeldisk.bench.report;

import java.awt.Color;
import java.awt.Font;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Creates the charts of tables. */
public final class Charts {
    /** The width of a chart. A row contains two charts, or one chart of twice this width. */
    public static final int WIDTH = 520;

    private static final int HEIGHT = 340;
    private static final double HEADROOM = 1.08;
    /** The part of the plot area that the curves use. The margin around them keeps the lowest number of the y axis visible. */
    private static final double PLOT_CONTENT = 0.98;
    /** An axis is logarithmic if the largest figure is more than this many times as large as the smallest figure. */
    private static final double MANY_TIMES = 20;
    private static final Color[] COLOURS = {
        new Color(0x1F77B4), new Color(0xD95F02), new Color(0x1B9E77), new Color(0x7570B3), new Color(0x8A8F98)};

    private Charts() {}

    /** Returns the colour of the line with an index. */
    public static Color colour(int index) {
        return COLOURS[index % COLOURS.length];
    }

    /** Sets the fonts, colours and margins that all charts have. */
    public static void dress(AxesChartStyler styler) {
        Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setLegendFont(font);
        styler.setLegendPosition(Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(Styler.LegendLayout.Horizontal);
        styler.setChartPadding(16);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setChartTitleFont(font.deriveFont(Font.BOLD, 14f));
        styler.setPlotGridLinesColor(new Color(0xE3E5E8));
        styler.setPlotBorderVisible(false);
        styler.setAxisTitleFont(font);
        styler.setAxisTickLabelsFont(font.deriveFont(11f));
    }

    /**
     * Returns the line charts of a table. The x axis shows one of the table's keys, and there is a chart for each combination of
     * the other keys.
     *
     * @param columns the columns that are drawn as lines, all in the same unit; the lines of baselines are dashed
     */
    public static List<CategoryChart> lines(Table table, String xKey, List<String> columns) {
        Map<String, List<Table.Row>> parts = new LinkedHashMap<>();
        for (Table.Row row : table.rows()) {
            String title = table.keys().stream().filter(key -> !key.equals(xKey)).map(key -> labelled(key, row))
                .collect(Collectors.joining(", "));
            parts.computeIfAbsent(table.name() + ": " + title, _ -> new ArrayList<>()).add(row);
        }
        List<CategoryChart> charts = new ArrayList<>();
        parts.forEach((title, rows) -> charts.add(lines(table, title, rows, xKey, columns)));
        return charts;
    }

    /** Returns the value of a key. If the value is a number, the name of the key follows it, as in {@code 64 clients}. */
    private static String labelled(String key, Table.Row row) {
        String value = row.key(key);
        return Character.isDigit(value.charAt(0)) ? value + " " + key : value;
    }

    private static CategoryChart lines(
        Table table, String title, List<Table.Row> rows, String xKey, List<String> columns) {
        CategoryChart chart = chart(WIDTH, title, xKey, table.unit(columns.getFirst()));
        CategoryStyler styler = chart.getStyler();
        styler.setOverlapped(true);
        styler.setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Line);
        styler.setPlotContentSize(PLOT_CONTENT);
        for (int i = 0; i < columns.size(); i++) {
            String column = columns.get(i);
            List<Table.Row> shown = rows.stream().filter(row -> row.figure(column) != null).toList();
            if (!shown.isEmpty()) {
                boolean dashed = table.isBaseline(column);
                CategorySeries line = chart.addSeries(column, shown.stream().map(row -> row.key(xKey)).toList(),
                    shown.stream().map(row -> row.figure(column).median()).toList());
                line.setLineColor(colour(i));
                line.setMarkerColor(colour(i));
                // A marker would hide the dashes, but a line of one point is only visible with a marker.
                line.setMarker(dashed && shown.size() > 1 ? SeriesMarkers.NONE : SeriesMarkers.CIRCLE);
                line.setLineStyle(dashed ? SeriesLines.DASH_DASH : SeriesLines.SOLID);
            }
        }
        scale(chart);
        return chart;
    }

    /** Returns a chart with a bar for each row. The columns are the parts of the bars. */
    public static CategoryChart bars(Table table, String title, String... columns) {
        CategoryChart chart = chart(2 * WIDTH, title, "", table.unit(columns[0]));
        CategoryStyler styler = chart.getStyler();
        styler.setStacked(true);
        styler.setDecimalPattern("#,##0.#");
        styler.setLabelsVisible(true);
        styler.setShowStackSum(true);
        List<String> names = table.rows().stream()
            .map(row -> table.keys().stream().map(row::key).collect(Collectors.joining(", "))).toList();
        for (int i = 0; i < columns.length; i++) {
            String column = columns[i];
            chart.addSeries(column, names, table.rows().stream().map(row -> row.figure(column).median()).toList())
                .setFillColor(colour(i));
        }
        return chart;
    }

    private static CategoryChart chart(int width, String title, String xAxis, Unit unit) {
        CategoryChart chart = new CategoryChartBuilder().width(width).height(HEIGHT).title(title).xAxisTitle(xAxis)
            .yAxisTitle(unit.label()).build();
        dress(chart.getStyler());
        return chart;
    }

    /**
     * Starts the y axis at zero, or if the figures differ by a large factor, makes the axis logarithmic and ends it at powers of
     * ten.
     */
    private static void scale(CategoryChart chart) {
        double[] figures = chart.getSeriesMap().values().stream().flatMap(series -> series.getYData().stream())
            .mapToDouble(Number::doubleValue).toArray();
        double least = DoubleStream.of(figures).min().orElseThrow();
        double most = DoubleStream.of(figures).max().orElseThrow();
        CategoryStyler styler = chart.getStyler();
        if (least > 0 && most > MANY_TIMES * least) {
            styler.setYAxisLogarithmic(true);
            styler.setYAxisDecimalPattern("#,##0.####");
            styler.setYAxisMin(Math.pow(10, Math.floor(Math.log10(least))));
            styler.setYAxisMax(Math.pow(10, Math.ceil(Math.log10(most))));
        } else {
            styler.setYAxisMin(0.0);
            styler.setYAxisMax(HEADROOM * most);
        }
    }
}
