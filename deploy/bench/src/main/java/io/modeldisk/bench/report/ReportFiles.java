package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** Writes reports to files. */
public final class ReportFiles {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ReportFiles() {}

    /** Writes all figures, the time and a description of the machine to a JSON file. */
    public static void writeJson(Report report, Path file) throws IOException {
        ObjectNode root = JSON.createObjectNode().put("benchmark", report.benchmark()).put("at",
            Instant.now().toString());
        root.putObject("machine").put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"))
            .put("architecture", System.getProperty("os.arch"))
            .put("processors", Runtime.getRuntime().availableProcessors())
            .put("java", System.getProperty("java.vm.version"));
        report.addTo(root);
        JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), root);
    }

    /** Draws the charts to a file. The format is SVG if the name of the file ends in .svg, and PNG otherwise. */
    public static void writePlot(Report report, Path file) throws IOException {
        Charts.write(report.charts(), file);
    }

    /**
     * Checks the name of a file for {@link #writePlot} before the benchmark starts.
     *
     * @throws IllegalArgumentException if the name does not end in .svg or .png
     */
    public static void checkPlot(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (!name.endsWith(".svg") && !name.endsWith(".png")) {
            throw new IllegalArgumentException("--plot " + file + " must end in .svg or .png");
        }
    }

    /**
     * Checks the directory of a file that is written after the benchmark.
     *
     * @throws IllegalArgumentException if there is no such directory
     */
    public static void checkDirectory(String option, Path file) {
        Path directory = file.toAbsolutePath().getParent();
        if (directory == null || !Files.isDirectory(directory)) {
            throw new IllegalArgumentException(
                option + " " + file + " cannot be written: its directory does not exist; create it first");
        }
    }

    /** Adds a figure to a JSON object, with its median, minimum, maximum and every sample. */
    static void put(ObjectNode node, String name, Samples samples) {
        ObjectNode figures = node.putObject(name).put("median", samples.median()).put("min", samples.min())
            .put("max", samples.max());
        for (double value : samples.values()) {
            figures.withArray("runs").add(value);
        }
    }

    /** Adds the percentiles of latencies in microseconds to a JSON object. */
    static void putMicroseconds(ObjectNode node, String name, Histogram nanoseconds) {
        node.putObject(name).put("requests", nanoseconds.getTotalCount())
            .put("min", Units.microseconds(nanoseconds.getMinValue())).put("p50", Units.microseconds(nanoseconds, 50))
            .put("p90", Units.microseconds(nanoseconds, 90)).put("p99", Units.microseconds(nanoseconds, 99))
            .put("p99.9", Units.microseconds(nanoseconds, 99.9))
            .put("max", Units.microseconds(nanoseconds.getMaxValue()));
    }
}
