package io.modeldisk.picture;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import org.knowm.xchart.style.AxesChartStyler;

/** The look of all charts. */
public final class ChartLook {
    private static final int MARGIN = 16;
    private static final int LEGEND_LINE = 18;
    private static final Color[] COLOURS = {
        new Color(0x1F77B4), new Color(0xD95F02), new Color(0x1B9E77), new Color(0x7570B3)};

    private ChartLook() {}

    /** The colour of the line with the given index. */
    public static Color colour(int index) {
        return COLOURS[index % COLOURS.length];
    }

    /** Returns the stroke of a solid or dashed line. */
    public static BasicStroke stroke(boolean dashed) {
        return dashed
            ? new BasicStroke(2, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND, 10, new float[]{5, 5}, 0)
            : new BasicStroke(2, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND);
    }

    /** Sets the fonts, colours and margins of a chart. */
    public static void dress(AxesChartStyler styler) {
        Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setLegendFont(font);
        styler.setLegendSeriesLineLength(LEGEND_LINE);
        styler.setChartPadding(MARGIN);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setChartTitleFont(font.deriveFont(Font.BOLD, 14f));
        styler.setPlotGridLinesColor(new Color(0xE3E5E8));
        styler.setPlotBorderVisible(false);
        styler.setAxisTitleFont(font);
        styler.setAxisTickLabelsFont(font.deriveFont(11f));
    }
}
