package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.picture.ChartLook;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.CategoryChart;

/**
 * The result of {@code bench mount}: the throughput of mounts with each binding, beside files that move no data and beside the
 * protocol without a mount; and the times of a learner.
 *
 * @param modelBytes the size of the model
 * @param bindings the names of the measured FUSE bindings
 * @param datamovers the names of the measured datamovers
 * @param rates the throughputs; may be empty
 * @param learner the times of a learner through a mount with the first binding; may be empty
 * @param notes sentences about what was not measured
 */
public record MountReport(
    long modelBytes, List<String> bindings, List<String> datamovers, List<Rate> rates, List<LearnerTimes> learner,
    List<String> notes)
    implements
        Report {
    private static final String NULL_FILE = "";
    private static final String PROTOCOL = "";

    /**
     * The throughput of one variant with one load.
     *
     * @param binding empty for the protocol without a mount
     * @param datamover empty for a file that moves no data
     */
    public record Rate(
        String binding, String datamover, Direction direction, int queueDepth, int requestBytes,
        Samples bytesPerSecond) {
        /** The system call of the load, seen from the process that uses the mount. */
        String call() {
            return direction == Direction.PUSH ? "write" : "read";
        }

        private boolean isSameLoad(Rate other) {
            return direction == other.direction && queueDepth == other.queueDepth && requestBytes == other.requestBytes;
        }
    }

    @Override
    public String benchmark() {
        return "mount";
    }

    @Override
    public String text() {
        StringBuilder text = new StringBuilder();
        if (!rates.isEmpty()) {
            text.append(PlainText.format(
                "GB/s of a file of %s, median; in brackets: the median, minimum and maximum of the ratios%n",
                ByteSize.format(modelBytes)));
            for (String binding : bindings) {
                text.append(PlainText.format("%nbinding %s%n", binding)).append(table(binding));
            }
            text.append("""

                null: a file that moves no data. NAME / null: the throughput of the mount divided by that of this file.
                NAME / series: divided by 1 / (1 / null + 1 / protocol), since each byte passes both.
                """);
        }
        if (!learner.isEmpty()) {
            text.append(
                PlainText.format("%sms of a learner of %s, binding %s, medians%n%n", rates.isEmpty() ? "" : "\n",
                    ByteSize.format(modelBytes), bindings.getFirst()))
                .append(LearnerTimes.table(learner))
                .append(PlainText.format("""

                    read and write, mapped: the learner's own time for all weights and the whole gradient, outside fsync.
                    iteration: this time, %.0f ms of computation, and fsync.
                    """, learner.getFirst().computeMs().median()));
        }
        notes.forEach(note -> text.append(note).append('\n'));
        return text.toString();
    }

    private Table table(String binding) {
        List<String> headings = new ArrayList<>(List.of("call", "in flight", "size", "null"));
        for (String datamover : datamovers) {
            headings
                .addAll(List.of("protocol " + datamover, datamover, datamover + " / null", datamover + " / series"));
        }
        Table table = new Table(1, headings.toArray(String[]::new));
        Rate before = null;
        for (Rate empty : rates) {
            if (!empty.binding().equals(binding) || !empty.datamover().equals(NULL_FILE)) {
                continue;
            }
            if (before != null && before.direction() != empty.direction()) {
                table.gap();
            }
            before = empty;
            table.row(row(empty));
        }
        return table;
    }

    private String[] row(Rate empty) {
        List<String> cells = new ArrayList<>(List.of(empty.call(), Integer.toString(empty.queueDepth()),
            ByteSize.exact(empty.requestBytes()), Units.throughput(empty.bytesPerSecond().median())));
        for (String datamover : datamovers) {
            Samples protocol = of(PROTOCOL, datamover, empty).bytesPerSecond();
            Samples mount = of(empty.binding(), datamover, empty).bytesPerSecond();
            cells.addAll(List.of(Units.throughput(protocol.median()), Units.throughput(mount.median()),
                Units.ratio(mount.over(empty.bytesPerSecond())),
                Units.ratio(mount.over(series(empty.bytesPerSecond(), protocol)))));
        }
        return cells.toArray(String[]::new);
    }

    /** Returns the throughput of two stages of which each byte passes one after the other. */
    private static Samples series(Samples first, Samples second) {
        double[] both = new double[first.values().length];
        for (int i = 0; i < both.length; i++) {
            both[i] = 1 / (1 / first.values()[i] + 1 / second.values()[i]);
        }
        return Samples.of(both);
    }

    private Rate of(String binding, String datamover, Rate load) {
        return rates.stream().filter(rate -> rate.binding().equals(binding) && rate.datamover().equals(datamover)
            && rate.isSameLoad(load)).findFirst().orElseThrow();
    }

    @Override
    public void addTo(ObjectNode root) {
        root.put("modelBytes", modelBytes);
        notes.forEach(note -> root.withArray("notes").add(note));
        learner.forEach(times -> times.addTo(root));
        for (Rate rate : rates) {
            ObjectNode node = root.withArray("rates").addObject()
                .put("binding", rate.binding().equals(PROTOCOL) ? "none" : rate.binding())
                .put("datamover", rate.datamover().equals(NULL_FILE) ? "none" : rate.datamover())
                .put("call", rate.call()).put("queueDepth", rate.queueDepth()).put("requestBytes", rate.requestBytes());
            ReportFiles.put(node, "bytesPerSecond", rate.bytesPerSecond());
        }
    }

    /**
     * A row of charts for each binding and queue depth, with a chart for writes and a chart for reads; and a chart of a learner's
     * times for each datamover.
     */
    @Override
    public List<List<CategoryChart>> charts() {
        List<List<CategoryChart>> rows = new ArrayList<>();
        for (String binding : bindings) {
            for (int depth : rates.stream().map(Rate::queueDepth).distinct().toList()) {
                List<CategoryChart> row = new ArrayList<>();
                for (Direction direction : List.of(Direction.PUSH, Direction.PULL)) {
                    row.add(chart(binding, depth, direction));
                }
                rows.add(row);
            }
        }
        for (String datamover : learner.stream().map(LearnerTimes::datamover).distinct().toList()) {
            rows.add(List.of(
                LearnerTimes.chart(learner.stream().filter(times -> times.datamover().equals(datamover)).toList())));
        }
        return rows;
    }

    private CategoryChart chart(String binding, int depth, Direction direction) {
        List<Rate> shown = rates.stream().filter(rate -> rate.queueDepth() == depth && rate.direction() == direction)
            .toList();
        CategoryChart chart = Charts.chartOfManyLines(
            PlainText.format("%s, binding %s, %d in flight", shown.getFirst().call(), binding, depth),
            "request size", "GB/s");
        line(chart, "file that moves no data", shown, binding, NULL_FILE, datamovers.size(), true);
        for (int i = 0; i < datamovers.size(); i++) {
            line(chart, "mount over " + datamovers.get(i), shown, binding, datamovers.get(i), i, false);
            line(chart, "protocol over " + datamovers.get(i), shown, PROTOCOL, datamovers.get(i), i, true);
        }
        Charts.logarithmic(chart);
        return chart;
    }

    private static void line(
        CategoryChart chart, String name, List<Rate> shown, String binding, String datamover, int colour,
        boolean dashed) {
        List<Rate> mine = shown.stream()
            .filter(rate -> rate.binding().equals(binding) && rate.datamover().equals(datamover)).toList();
        Charts.line(chart, name, mine.stream().map(rate -> ByteSize.exact(rate.requestBytes())).toList(),
            mine.stream().map(rate -> Units.gigabytes(rate.bytesPerSecond().median())).toList(),
            ChartLook.colour(colour), dashed);
    }
}
