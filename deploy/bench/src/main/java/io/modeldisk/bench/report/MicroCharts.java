package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.report.MicroReport.Latency;
import io.modeldisk.bench.report.MicroReport.Rate;
import io.modeldisk.picture.ChartLook;
import io.modeldisk.platform.units.ByteSize;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.CategoryChart;

/**
 * The charts of {@code bench micro}. Each micro-benchmark has a row with a chart for push and a chart for pull. A chart has a
 * line for each datamover and for gRPC.
 */
final class MicroCharts {
    private MicroCharts() {}

    static List<List<CategoryChart>> of(MicroReport report) {
        List<List<CategoryChart>> rows = new ArrayList<>();
        rows.add(row(report.latency(), Latency::direction, (direction, shown) -> latency(report, direction, shown)));
        rows.add(row(report.fanIn(), Rate::direction, (direction, shown) -> {
            String size = ByteSize.exact(shown.getFirst().requestBytes());
            CategoryChart chart = Charts.chart(direction + " of " + size + ", one server", "clients",
                "thousand requests per second");
            return rates(chart, report, shown, rate -> Integer.toString(rate.parties()),
                rate -> rate.requestsPerSecond().median() / 1e3);
        }));
        rows.add(row(report.mesh(), Rate::direction, (direction, shown) -> {
            CategoryChart chart = Charts.chart(
                direction + ", " + shown.getFirst().parties() + " nodes, fully connected",
                "request size", "GB/s per node");
            return rates(chart, report, shown, rate -> ByteSize.exact(rate.requestBytes()),
                rate -> Units.gigabytes(rate.bytesPerSecondEach().median()));
        }));
        rows.removeIf(List::isEmpty);
        return rows;
    }

    @FunctionalInterface
    private interface Drawing<T> {
        CategoryChart draw(String direction, List<T> shown);
    }

    private static <T> List<CategoryChart> row(List<T> all, Function<T, Direction> direction, Drawing<T> drawing) {
        List<CategoryChart> row = new ArrayList<>();
        for (Direction each : List.of(Direction.PUSH, Direction.PULL)) {
            List<T> shown = all.stream().filter(one -> direction.apply(one) == each).toList();
            if (!shown.isEmpty()) {
                row.add(drawing.draw(each.label(), shown));
            }
        }
        return row;
    }

    private static CategoryChart latency(MicroReport report, String direction, List<Latency> shown) {
        CategoryChart chart = Charts.chart("latency of a " + direction + ", median", "request size",
            "microseconds");
        for (int way = 0; way < report.ways().size(); way++) {
            String name = report.ways().get(way);
            List<Latency> mine = shown.stream().filter(latency -> latency.over().equals(name)).toList();
            Charts.line(chart, name, mine.stream().map(latency -> ByteSize.exact(latency.requestBytes())).toList(),
                mine.stream().map(latency -> Units.microseconds(latency.nanoseconds(), 50)).toList(),
                ChartLook.colour(way), way == report.ways().size() - 1);
        }
        Charts.logarithmic(chart);
        return chart;
    }

    private static CategoryChart rates(
        CategoryChart chart, MicroReport report, List<Rate> shown, Function<Rate, String> label,
        ToDoubleFunction<Rate> figure) {
        for (int way = 0; way < report.ways().size(); way++) {
            String name = report.ways().get(way);
            List<Rate> mine = shown.stream().filter(rate -> rate.over().equals(name)).toList();
            Charts.line(chart, name, mine.stream().map(label).toList(),
                mine.stream().map(figure::applyAsDouble).toList(), ChartLook.colour(way),
                way == report.ways().size() - 1);
        }
        Charts.fromZero(chart);
        return chart;
    }
}
