package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.units.ByteSize;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A table of measured figures. The keys of a row identify what was measured, such as the direction and the size of a request.
 * Each column has a name and a unit. A row can have no figure in some columns. Not thread-safe.
 */
public final class Table {
    private static final String GAP = "  ";

    private final String name;
    private final String title;
    private final List<String> keys;
    private final Map<String, Unit> columns = new LinkedHashMap<>();
    private final Set<String> numerators = new LinkedHashSet<>();
    private final Set<String> denominators = new LinkedHashSet<>();
    private final List<Row> rows = new ArrayList<>();

    Table(String name, String title, String... keys) {
        this.name = name;
        this.title = title;
        this.keys = List.of(keys);
    }

    /** A row of the table. */
    public final class Row {
        private final List<Object> values;
        private final Map<String, Samples> figures = new LinkedHashMap<>();

        private Row(List<Object> values) {
            this.values = values;
        }

        /** Adds a figure. All figures of a column have the same unit. */
        public Row put(String column, Unit unit, Samples samples) {
            columns.putIfAbsent(column, unit);
            figures.put(column, samples);
            return this;
        }

        /** Adds the ratio of the figures in two columns. The ratio is computed for each turn. */
        public Row ratio(String numerator, String denominator) {
            numerators.add(numerator);
            denominators.add(denominator);
            return put(numerator + " / " + denominator, Unit.RATIO, figure(numerator).over(figure(denominator)));
        }

        /** Returns the figure in a column; null if the row has no figure there. */
        public Samples figure(String column) {
            return figures.get(column);
        }

        /** Returns the value of a key as text. */
        String key(String key) {
            return text(values.get(keys.indexOf(key)));
        }
    }

    /** Adds a row with a value for each key: a text, a number, or a size. */
    public Row row(Object... values) {
        Arguments.require(values.length == keys.size(),
            "the row has " + values.length + " keys, but the table has " + keys.size());
        Row row = new Row(List.of(values));
        rows.add(row);
        return row;
    }

    /** Returns the rows so far. */
    public List<Row> rows() {
        return Collections.unmodifiableList(rows);
    }

    String name() {
        return name;
    }

    String title() {
        return title;
    }

    List<String> keys() {
        return keys;
    }

    /** Returns the columns with a unit, in the order in which they were added. */
    public List<String> columns(Unit unit) {
        return columns.entrySet().stream().filter(column -> column.getValue() == unit).map(Map.Entry::getKey).toList();
    }

    Unit unit(String column) {
        return columns.get(column);
    }

    /** Returns whether a column is a baseline: other columns are divided by it, and it is not divided by any column. */
    boolean isBaseline(String column) {
        return denominators.contains(column) && !numerators.contains(column);
    }

    private static String text(Object value) {
        return value instanceof ByteSize size ? ByteSize.exact(size.bytes()) : value.toString();
    }

    void addTo(ObjectNode root) {
        ArrayNode all = root.putArray(name);
        for (Row row : rows) {
            ObjectNode node = all.addObject();
            for (int i = 0; i < keys.size(); i++) {
                switch (row.values.get(i)) {
                    case ByteSize size -> node.put(keys.get(i), size.bytes());
                    case Integer number -> node.put(keys.get(i), number);
                    default -> node.put(keys.get(i), row.values.get(i).toString());
                }
            }
            row.figures.forEach((column, samples) -> {
                ObjectNode figure = node.putObject(column).put("unit", columns.get(column).label())
                    .put("median", samples.median()).put("min", samples.min()).put("max", samples.max());
                Arrays.stream(samples.values()).forEach(figure.putArray("runs")::add);
            });
        }
    }

    /**
     * Returns the table as text. The keys come first, then the figures, then the ratios. An empty line separates rows whose first
     * keys differ.
     */
    @Override
    public String toString() {
        List<List<String>> lines = new ArrayList<>();
        List<String> headings = new ArrayList<>(keys);
        List<String> shown = Stream.concat(
            columns.keySet().stream().filter(column -> columns.get(column) != Unit.RATIO),
            columns(Unit.RATIO).stream()).toList();
        shown.forEach(column -> headings.add((column + " " + columns.get(column).label()).strip()));
        lines.add(headings);
        for (Row row : rows) {
            List<String> line = new ArrayList<>(row.values.stream().map(Table::text).toList());
            shown.forEach(column -> line
                .add(row.figures.containsKey(column) ? columns.get(column).format(row.figures.get(column)) : "-"));
            lines.add(line);
        }
        int[] widths = new int[lines.getFirst().size()];
        lines.forEach(line -> Arrays.setAll(widths, i -> Math.max(widths[i], line.get(i).length())));
        StringBuilder text = new StringBuilder();
        for (int n = 0; n < lines.size(); n++) {
            List<String> line = lines.get(n);
            if (n > 1 && keys.size() > 1 && !line.getFirst().equals(lines.get(n - 1).getFirst())) {
                text.append('\n');
            }
            StringBuilder aligned = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                String space = " ".repeat(widths[i] - line.get(i).length());
                aligned.append(i == 0 ? "" : GAP).append(i < keys.size() ? line.get(i) + space : space + line.get(i));
            }
            text.append(aligned.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
