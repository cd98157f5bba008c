package io.modeldisk.bench.report;

import java.util.ArrayList;
import java.util.List;

/**
 * A table for a terminal. Columns are as wide as their contents. Words are aligned to the left, and numbers to the right. Not
 * thread-safe.
 */
final class Table {
    private static final String GAP = "  ";

    private final int words;
    private final List<String[]> rows = new ArrayList<>();

    /** Creates a table. The first {@code words} columns contain words, and the other columns contain numbers. */
    Table(int words, String... headings) {
        this.words = words;
        rows.add(headings);
    }

    Table row(String... cells) {
        if (cells.length != rows.getFirst().length) {
            throw new IllegalArgumentException(
                "the row has " + cells.length + " cells, but the table has " + rows.getFirst().length + " columns");
        }
        rows.add(cells);
        return this;
    }

    /** Adds an empty line to the table. */
    Table gap() {
        rows.add(null);
        return this;
    }

    @Override
    public String toString() {
        int[] widths = new int[rows.getFirst().length];
        for (String[] row : rows) {
            for (int i = 0; row != null && i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (String[] row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; row != null && i < widths.length; i++) {
                String space = " ".repeat(widths[i] - row[i].length());
                line.append(i == 0 ? "" : GAP).append(i < words ? row[i] + space : space + row[i]);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
