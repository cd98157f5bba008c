package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.timeline.Canvas;
import io.modeldisk.timeline.Canvas.Anchor;
import io.modeldisk.timeline.ImageCanvas;
import io.modeldisk.timeline.SvgCanvas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What {@code bench training} found, as a table, JSON and a plot.
 *
 * @param title what was measured
 * @param setting how
 * @param model the model's name
 * @param modelBytes its size
 * @param results at least one
 */
public record TrainingReport(String title, String setting, String model, long modelBytes,
    List<TrainingResult> results) {
    private static final String LEGEND = """

        Times in ms, means. x longest: against the longest of computing, and of pushing and pulling with direct.
        Age and staleness (in rounds of the others' pushes) are those of weights when computing on them begins.
        """;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double WIDTH = 900;
    private static final double LEFT = 170;
    private static final double TOP = 100;
    private static final double ROW = 40;
    private static final String INK = "#333333";
    private static final String PALE = "#888888";
    private static final String COMPUTE = "#3d6a99";
    private static final String FILE = "#b9b9b9";
    private static final String STALL = "#d64545";

    private Optional<TrainingResult> direct() {
        return results.stream().filter(result -> result.exchange().equals("direct")).findFirst();
    }

    /** A line an exchange scheme. */
    public String text() {
        Table table = new Table(1, "exchange", "iteration", "95 %", "compute", "file", "fsync", "push", "bubble",
            "pull",
            "x compute", "x longest", "age", "staleness", "speed-up");
        for (TrainingResult result : results) {
            table.row(result.exchange(), ms(result.iterationMs()), ms(result.slowMs()), ms(result.computeMs()),
                ms(result.fileMs()), ms(result.fsyncMs()), ms(result.pushMs()), ms(result.bubbleMs()),
                ms(result.pullMs()),
                "%.3f".formatted(result.overComputation()),
                direct().map(direct -> "%.3f".formatted(result.over(direct))).orElse("-"), ms(result.ageMs()),
                "%.2f".formatted(result.staleness()),
                "%.2f of %d".formatted(result.speedUp(), result.learners()));
        }
        return title + "; " + setting + "\n\n" + table + LEGEND;
    }

    private static String ms(double value) {
        return "%.2f".formatted(value);
    }

    /** All figures, for programs. */
    public void writeJson(Path file) throws IOException {
        ObjectNode root = JSON.createObjectNode().put("benchmark", "training").put("at", Instant.now().toString())
            .put("title", title).put("setting", setting).put("model", model).put("modelBytes", modelBytes)
            .put("processors", Runtime.getRuntime().availableProcessors());
        for (TrainingResult result : results) {
            ObjectNode node = JSON.valueToTree(result);
            node.put("overComputation", result.overComputation()).put("speedUp", result.speedUp());
            direct().ifPresent(direct -> node.put("overLongest", result.over(direct)));
            root.withArray("results").add(node);
        }
        JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), root);
    }

    /**
     * Checks that a file can be plotted to.
     *
     * @throws IllegalArgumentException if its name does not end in .svg or .png
     */
    public static void checkPlot(Path file) {
        if (!file.toString().endsWith(".svg") && !file.toString().endsWith(".png")) {
            throw new IllegalArgumentException("--plot " + file + " must end in .svg or .png");
        }
    }

    /** A bar an exchange scheme: what an iteration consists of. */
    public void writePlot(Path file) throws IOException {
        checkPlot(file);
        double height = TOP + results.size() * ROW + 46;
        if (file.toString().endsWith(".svg")) {
            SvgCanvas canvas = new SvgCanvas(WIDTH, height);
            draw(canvas);
            Files.writeString(file, canvas.text());
        } else {
            ImageCanvas canvas = new ImageCanvas(WIDTH, height);
            draw(canvas);
            Files.write(file, canvas.png());
        }
    }

    private void draw(Canvas canvas) {
        canvas.text(20, 28, 15, true, Anchor.START, INK, title);
        canvas.text(20, 46, 12, false, Anchor.START, PALE, setting);
        String[][] legend = {{COMPUTE, "compute"}, {FILE, "read weights, write gradient"}, {STALL, "wait in fsync"}};
        double x = LEFT;
        for (String[] entry : legend) {
            canvas.rectangle(x, 62, 14, 12, entry[0]);
            canvas.text(x + 20, 72, 12, false, Anchor.START, INK, entry[1]);
            x += 44 + 6.2 * entry[1].length();
        }
        double longest = results.stream().mapToDouble(TrainingResult::iterationMs).max().orElseThrow();
        double scale = (WIDTH - LEFT - 110) / longest;
        for (int i = 0; i < results.size(); i++) {
            bar(canvas, results.get(i), TOP + i * ROW, scale);
        }
        double bottom = TOP + results.size() * ROW;
        double computeX = LEFT + results.getFirst().computeMs() * scale;
        canvas.line(computeX, TOP - 8, computeX, bottom, INK);
        canvas.text(computeX, bottom + 16, 12, false, Anchor.MIDDLE, INK, "computing alone");
        canvas.text(WIDTH - 20, bottom + 34, 12, false, Anchor.END, PALE,
            "milliseconds an iteration, mean of all learners");
    }

    private static void bar(Canvas canvas, TrainingResult result, double y, double scale) {
        canvas.text(LEFT - 10, y + 19, 13, false, Anchor.END, INK, result.exchange());
        double[] parts = {result.computeMs(), result.fileMs(), result.fsyncMs()};
        String[] colours = {COMPUTE, FILE, STALL};
        double x = LEFT;
        for (int part = 0; part < parts.length; part++) {
            canvas.rectangle(x, y, parts[part] * scale, ROW - 12, colours[part]);
            x += parts[part] * scale;
        }
        canvas.text(x + 8, y + 19, 13, true, Anchor.START, INK, ms(result.iterationMs()));
    }
}
