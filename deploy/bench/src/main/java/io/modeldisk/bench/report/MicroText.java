package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.report.MicroReport.Latency;
import io.modeldisk.bench.report.MicroReport.Rate;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The tables of {@code bench micro}. Each table has a row for each request size or number of clients, and a column for each
 * datamover and for gRPC.
 */
final class MicroText {
    private static final double MILLI_US = 1e3;

    private MicroText() {}

    /** Returns all tables of a report, followed by its notes. */
    static String of(MicroReport report) {
        StringBuilder text = new StringBuilder();
        if (!report.latency().isEmpty()) {
            text.append("Point to point: latency of one request at a time, in microseconds\n\n").append(latency(report))
                .append(note(report));
        }
        if (!report.fanIn().isEmpty()) {
            text.append(
                PlainText.format(
                    "\nOne server, %s requests: requests per second of all clients; ratios: median (minimum-maximum)%n%n",
                    ByteSize.exact(report.fanIn().getFirst().requestBytes())))
                .append(fanIn(report));
        }
        if (!report.mesh().isEmpty()) {
            text.append(
                PlainText.format(
                    "\nFully connected, %d nodes: GB/s per node, and the median latency of a request in milliseconds%n%n",
                    report.mesh().getFirst().parties()))
                .append(mesh(report));
        }
        report.notes().forEach(note -> text.append('\n').append(note).append('\n'));
        return text.toString();
    }

    private static String latency(MicroReport report) {
        List<String> headings = new ArrayList<>(List.of("direction", "request"));
        report.ways().forEach(way -> headings.addAll(List.of(way + " 50 %", "99 %")));
        Table table = new Table(1, headings.toArray(String[]::new));
        Direction before = null;
        for (int i = 0; i < report.latency().size(); i += report.ways().size()) {
            Latency first = report.latency().get(i);
            List<String> cells = new ArrayList<>(
                List.of(first.direction().label(), ByteSize.exact(first.requestBytes())));
            for (Latency latency : report.latency().subList(i, i + report.ways().size())) {
                cells.add(Units.latency(latency.nanoseconds(), 50));
                cells.add(Units.latency(latency.nanoseconds(), 99));
            }
            gap(table, before, first.direction());
            table.row(cells.toArray(String[]::new));
            before = first.direction();
        }
        return table.toString();
    }

    private static String note(MicroReport report) {
        boolean small = report.latency().stream()
            .anyMatch(latency -> latency.requestBytes() < LogicalBlock.BYTES);
        return small
            ? "\nbelow 4 KiB: a push moves a logical block; a pull and gRPC move only the requested bytes\n"
            : "";
    }

    private static String fanIn(MicroReport report) {
        return rates(report, report.fanIn(), "clients", rate -> Integer.toString(rate.parties()), List.of(""),
            rate -> List.of(PlainText.format("%.0f", rate.requestsPerSecond().median())));
    }

    private static String mesh(MicroReport report) {
        return rates(report, report.mesh(), "request", rate -> ByteSize.exact(rate.requestBytes()), List.of("", "ms"),
            rate -> List.of(Units.throughput(rate.bytesPerSecondEach().median()),
                PlainText.format("%.2f", rate.p50Micros() / MILLI_US)));
    }

    /**
     * Returns a table with a row for each direction and load. A row shows the figures of each datamover and of gRPC, and then the
     * ratio of each datamover to gRPC.
     */
    private static String rates(
        MicroReport report, List<Rate> all, String of, Function<Rate, String> label, List<String> headings,
        Function<Rate, List<String>> figures) {
        int ways = report.ways().size();
        List<String> titles = new ArrayList<>(List.of("direction", of));
        for (String way : report.ways()) {
            headings.forEach(heading -> titles.add(heading.isEmpty() ? way : heading));
        }
        String last = report.ways().getLast();
        report.ways().subList(0, ways - 1).forEach(way -> titles.add(way + " / " + last));
        Table table = new Table(1, titles.toArray(String[]::new));
        Direction before = null;
        for (Direction direction : List.of(Direction.PUSH, Direction.PULL)) {
            for (int i = 0; i < all.size(); i += ways) {
                List<Rate> group = all.subList(i, i + ways);
                if (group.getFirst().direction() == direction) {
                    gap(table, before, direction);
                    table.row(line(group, label, figures));
                    before = direction;
                }
            }
        }
        return table.toString();
    }

    private static String[] line(
        List<Rate> group, Function<Rate, String> label, Function<Rate, List<String>> figures) {
        Rate last = group.getLast();
        List<String> cells = new ArrayList<>(List.of(last.direction().label(), label.apply(last)));
        group.forEach(rate -> cells.addAll(figures.apply(rate)));
        group.subList(0, group.size() - 1)
            .forEach(rate -> cells.add(Units.ratio(rate.requestsPerSecond().over(last.requestsPerSecond()))));
        return cells.toArray(String[]::new);
    }

    private static void gap(Table table, Direction before, Direction direction) {
        if (before != null && before != direction) {
            table.gap();
        }
    }
}
