package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.Arguments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.knowm.xchart.internal.chartpart.Chart;

/** The result of a benchmark: tables, notes and charts, as text, JSON and pictures. Not thread-safe. */
public final class Report {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String benchmark;
    private final Map<String, Object> facts = new LinkedHashMap<>();
    private final List<Table> tables = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final List<Chart<?, ?>> charts = new ArrayList<>();

    /** Creates an empty report. */
    public Report(String benchmark) {
        this.benchmark = benchmark;
    }

    /** Adds a value that applies to the whole benchmark, such as the size of the model. Only the JSON contains such values. */
    public Report fact(String name, Object value) {
        facts.put(name, value);
        return this;
    }

    /**
     * Adds a table. {@code title} is the title above the table in the text, and {@code name} is the name of the table in the
     * JSON.
     */
    public Table table(String name, String title, String... keys) {
        Table table = new Table(name, title, keys);
        tables.add(table);
        return table;
    }

    /** Adds a sentence below the tables. */
    public void note(String sentence) {
        notes.add(sentence);
    }

    /** Adds charts, which are placed from left to right in rows. */
    public void charts(List<? extends Chart<?, ?>> more) {
        charts.addAll(more);
    }

    /** Returns the tables and notes for a terminal. */
    public String text() {
        return tables.stream().filter(table -> !table.rows().isEmpty())
            .map(table -> table.title() + "\n\n" + table).collect(Collectors.joining("\n"))
            + notes.stream().map(note -> "\n" + note + "\n").collect(Collectors.joining());
    }

    /**
     * Writes the report to a file. A file whose name ends in .json contains all figures and a description of the machine. A file
     * whose name ends in .svg or .png contains the charts.
     *
     * @throws IOException if the file cannot be written, or if Java cannot draw text on this machine
     */
    public void write(Path file) throws IOException {
        if (ending(file).equals("json")) {
            JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), json());
        } else {
            ChartFile.write(charts, file);
        }
    }

    private ObjectNode json() {
        ObjectNode root = JSON.createObjectNode().put("benchmark", benchmark).put("at", Instant.now().toString());
        root.putObject("machine").put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"))
            .put("architecture", System.getProperty("os.arch"))
            .put("processors", Runtime.getRuntime().availableProcessors())
            .put("java", System.getProperty("java.vm.version"));
        facts.forEach(root::putPOJO);
        tables.forEach(table -> table.addTo(root));
        notes.forEach(root.putArray("notes")::add);
        return root;
    }

    /**
     * Checks the name of a file for {@link #write} before the benchmark starts.
     *
     * @throws IllegalArgumentException if the name does not end in .json, .svg or .png, or if the directory does not exist
     */
    public static void check(String option, Path file) {
        Arguments.require(List.of("json", "svg", "png").contains(ending(file)),
            option + " " + file + " must end in .json, .svg or .png");
        Path directory = file.toAbsolutePath().getParent();
        Arguments.require(directory != null && Files.isDirectory(directory),
            option + " " + file + " cannot be written: its directory does not exist; create it first");
    }

    static String ending(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        return name.contains(".") ? name.substring(name.lastIndexOf('.') + 1) : "";
    }
}
