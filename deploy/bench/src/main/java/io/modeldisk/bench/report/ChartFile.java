package io.modeldisk.bench.report;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.Color;
import java.awt.Dimension;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.Point;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import javax.imageio.ImageIO;
import org.knowm.xchart.internal.chartpart.Chart;

/** Writes charts to one SVG or PNG file. XChart writes only one chart to an SVG file. */
public final class ChartFile {
    private static final int PNG_PIXELS_A_UNIT = 2;
    private static final int ROW_WIDTH = 2 * Charts.WIDTH;

    private ChartFile() {}

    /**
     * Writes charts from left to right, in rows. The format is SVG if the name of the file ends in .svg, and PNG otherwise.
     *
     * @throws IOException if the file cannot be written, or if Java cannot draw text on this machine
     */
    public static void write(List<? extends Chart<?, ?>> charts, Path file) throws IOException {
        checkFonts();
        Dimension page = place(charts, (chart, at) -> {});
        if (Report.ending(file).equals("svg")) {
            VectorGraphics2D graphics = new VectorGraphics2D();
            paint(graphics, charts, page);
            try (OutputStream out = Files.newOutputStream(file)) {
                new SVGProcessor().getDocument(graphics.getCommands(), new PageSize(0, 0, page.width, page.height))
                    .writeTo(out);
            }
            return;
        }
        BufferedImage image = new BufferedImage(page.width * PNG_PIXELS_A_UNIT, page.height * PNG_PIXELS_A_UNIT,
            BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
        graphics.scale(PNG_PIXELS_A_UNIT, PNG_PIXELS_A_UNIT);
        paint(graphics, charts, page);
        graphics.dispose();
        ImageIO.write(image, "png", file.toFile());
    }

    private static void paint(Graphics2D graphics, List<? extends Chart<?, ?>> charts, Dimension page) {
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, page.width, page.height);
        place(charts, (chart, at) -> {
            Graphics2D part = (Graphics2D) graphics.create();
            part.translate(at.x, at.y);
            chart.paint(part, chart.getWidth(), chart.getHeight());
            part.dispose();
        });
    }

    /** Calls {@code each} with each chart and its position. Returns the size of the area that all charts cover. */
    private static Dimension place(List<? extends Chart<?, ?>> charts, BiConsumer<Chart<?, ?>, Point> each) {
        Point at = new Point();
        Dimension size = new Dimension();
        for (Chart<?, ?> chart : charts) {
            if (at.x + chart.getWidth() > ROW_WIDTH) {
                at.setLocation(0, size.height);
            }
            each.accept(chart, at);
            at.x += chart.getWidth();
            size.setSize(Math.max(size.width, at.x), Math.max(size.height, at.y + chart.getHeight()));
        }
        return size;
    }

    private static void checkFonts() throws IOException {
        try {
            new Font(Font.SANS_SERIF, Font.PLAIN, 1).getFamily();
        } catch (RuntimeException | LinkageError | InternalError e) {
            throw noText(e);
        }
    }

    /**
     * Returns an exception whose message contains the innermost cause of a failure, because there Java names the missing font or
     * the missing system library.
     */
    static IOException noText(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return new IOException("Java cannot draw the text of a chart: "
            + Objects.requireNonNullElse(cause.getMessage(), cause.toString())
            + "; install the packages fontconfig and libharfbuzz0b", failure);
    }
}
