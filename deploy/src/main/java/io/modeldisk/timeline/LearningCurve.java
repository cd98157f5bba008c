package io.modeldisk.timeline;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * How accurate learners have become over time.
 *
 * @param learners at least one
 */
public record LearningCurve(List<Learner> learners) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WIDTH = 640;
    private static final int HEIGHT = 400;
    private static final int PNG_SCALE = 2;
    private static final int MARGIN = 16;
    private static final Color[] COLOURS = {
        new Color(0x1F77B4), new Color(0xD95F02), new Color(0x1B9E77), new Color(0x7570B3)};

    /**
     * What one learner has reported.
     *
     * @param name the name of its file, without the extension
     * @param seconds since it began, ascending
     * @param accuracy of each of these, from 0 to 1
     */
    public record Learner(String name, List<Double> seconds, List<Double> accuracy) {}

    /**
     * Reads what learners have reported: files of lines of JSON, each an object with the numbers {@code seconds} and
     * {@code accuracy}; what else is in them does not matter.
     *
     * @throws IOException if a file cannot be read, or a line is no such object, saying which
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
            throw new IOException(file + ": there is no such file", e);
        }
        List<Double> seconds = new ArrayList<>();
        List<Double> accuracy = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            JsonNode line = line(file, i + 1, lines.get(i));
            seconds.add(line.path("seconds").doubleValue());
            accuracy.add(line.path("accuracy").doubleValue());
        }
        if (seconds.isEmpty()) {
            throw new IOException(file + " is empty: no learner has reported anything there");
        }
        String name = file.getFileName().toString().replaceFirst("\\.[^.]+$", "");
        return new Learner(name, List.copyOf(seconds), List.copyOf(accuracy));
    }

    private static JsonNode line(Path file, int number, String text) throws IOException {
        JsonNode line;
        try {
            line = JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IOException(file + ", line " + number + ": is no JSON", e);
        }
        if (!line.path("seconds").isNumber() || !line.path("accuracy").isNumber()) {
            throw new IOException(file + ", line " + number + ": has no numbers seconds and accuracy");
        }
        return line;
    }

    /** Draws it as SVG. */
    public void writeSvg(Path file) throws IOException {
        VectorGraphics2D graphics = new VectorGraphics2D();
        chart().paint(graphics, WIDTH, HEIGHT);
        try (OutputStream out = Files.newOutputStream(file)) {
            new SVGProcessor().getDocument(graphics.getCommands(), new PageSize(0, 0, WIDTH, HEIGHT)).writeTo(out);
        }
    }

    /** Draws it as PNG, with two pixels a unit. */
    public void writePng(Path file) throws IOException {
        BufferedImage image = new BufferedImage(WIDTH * PNG_SCALE, HEIGHT * PNG_SCALE, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.scale(PNG_SCALE, PNG_SCALE);
        chart().paint(graphics, WIDTH, HEIGHT);
        graphics.dispose();
        ImageIO.write(image, "png", file.toFile());
    }

    private XYChart chart() {
        XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT)
            .title("held-out accuracy of the weights that were read")
            .xAxisTitle("seconds").yAxisTitle("accuracy").build();
        XYStyler styler = chart.getStyler();
        Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
        styler.setLegendPosition(Styler.LegendPosition.InsideSE);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setLegendFont(font);
        styler.setChartPadding(MARGIN);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setChartTitleFont(font.deriveFont(Font.BOLD, 14f));
        styler.setPlotGridLinesColor(new Color(0xE3E5E8));
        styler.setPlotBorderVisible(false);
        styler.setAxisTitleFont(font);
        styler.setAxisTickLabelsFont(font.deriveFont(11f));
        styler.setYAxisMin(0.0);
        styler.setYAxisMax(1.0);
        styler.setXAxisMin(0.0);
        for (int i = 0; i < learners.size(); i++) {
            Learner learner = learners.get(i);
            XYSeries series = chart.addSeries(learner.name(), learner.seconds(), learner.accuracy());
            series.setLineColor(COLOURS[i % COLOURS.length]);
            series.setLineStyle(new BasicStroke(2, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND));
            series.setMarker(SeriesMarkers.NONE);
        }
        return chart;
    }
}
