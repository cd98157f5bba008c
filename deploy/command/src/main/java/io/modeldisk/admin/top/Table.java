package io.modeldisk.admin.top;

import io.modeldisk.platform.text.PeerText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Text in columns that are as wide as their longest cell. */
final class Table {
    private static final int MAX_CELL = 40;
    private static final String GAP = "  ";

    private final List<String[]> rows = new ArrayList<>();
    private final List<Line.Style> styles = new ArrayList<>();

    Table(String... heads) {
        rows.add(heads);
        styles.add(Line.Style.QUIET);
    }

    /** Adds a row. Cells may have any characters; long cells are cut. */
    void add(Line.Style style, String... cells) {
        rows.add(Arrays.stream(cells).map(Table::printable).toArray(String[]::new));
        styles.add(style);
    }

    private static String printable(String cell) {
        String text = PeerText.printable(cell);
        return text.length() <= MAX_CELL ? text : text.substring(0, MAX_CELL - 1) + "~";
    }

    List<Line> lines() {
        int[] widths = new int[rows.getFirst().length];
        for (String[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        List<Line> lines = new ArrayList<>();
        for (int r = 0; r < rows.size(); r++) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                String cell = rows.get(r)[i];
                text.append(cell).append(" ".repeat(widths[i] - cell.length())).append(GAP);
            }
            lines.add(new Line(styles.get(r), text.toString().stripTrailing()));
        }
        return lines;
    }
}
