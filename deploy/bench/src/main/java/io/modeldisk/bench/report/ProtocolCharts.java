package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.picture.ChartLook;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
import org.knowm.xchart.CategoryChart;

/** The charts of {@code bench protocol}: throughput and latency over the request size. */
final class ProtocolCharts {
    private static final String X_AXIS = "request size";
    private static final String BASELINE = "baseline";

    private ProtocolCharts() {}

    /**
     * Returns a row of throughput charts for each queue depth, and one row of latency charts. A row has a chart for each
     * direction.
     */
    static List<List<CategoryChart>> of(ProtocolReport report) {
        List<List<CategoryChart>> rows = new ArrayList<>();
        for (int depth : report.throughput().stream().map(ThroughputResult::queueDepth).distinct().toList()) {
            List<CategoryChart> row = new ArrayList<>();
            for (Direction direction : Direction.values()) {
                List<ThroughputResult> shown = report.throughput().stream()
                    .filter(result -> result.queueDepth() == depth && result.direction() == direction).toList();
                if (!shown.isEmpty()) {
                    row.add(throughput(direction, depth, shown));
                }
            }
            rows.add(row);
        }
        List<CategoryChart> row = new ArrayList<>();
        for (Direction direction : Direction.values()) {
            List<LatencyResult> shown = report.latency().stream().filter(result -> result.direction() == direction)
                .toList();
            if (!shown.isEmpty()) {
                row.add(latency(direction, shown));
            }
        }
        if (!row.isEmpty()) {
            rows.add(row);
        }
        return rows;
    }

    private static CategoryChart throughput(Direction direction, int depth, List<ThroughputResult> results) {
        String name = direction == Direction.BOTH ? "push and pull at the same time" : direction.label();
        CategoryChart chart = Charts.chart(
            PlainText.format("%s, %d request%s in flight", name, depth, depth == 1 ? "" : "s"),
            X_AXIS, "GB/s");
        List<String> aggregators = results.stream().map(ThroughputResult::aggregator).distinct().toList();
        List<ThroughputResult> first = of(aggregators.getFirst(), results);
        Function<List<ThroughputResult>, List<String>> sizes = shown -> shown.stream()
            .map(result -> ByteSize.exact(result.requestBytes())).toList();
        Charts.line(chart, BASELINE, sizes.apply(first), figures(first, result -> result.baseline().median()),
            Charts.GREY,
            true);
        for (int i = 0; i < aggregators.size(); i++) {
            List<ThroughputResult> shown = of(aggregators.get(i), results);
            Charts.line(chart, aggregators.get(i), sizes.apply(shown),
                figures(shown, result -> result.protocol().median()),
                ChartLook.colour(i), false);
        }
        Charts.fromZero(chart);
        return chart;
    }

    private static List<ThroughputResult> of(String aggregator, List<ThroughputResult> results) {
        return results.stream().filter(result -> result.aggregator().equals(aggregator)).toList();
    }

    private static List<Double> figures(List<ThroughputResult> results, ToDoubleFunction<ThroughputResult> figure) {
        return results.stream().map(result -> Units.gigabytes(figure.applyAsDouble(result))).toList();
    }

    private static CategoryChart latency(Direction direction, List<LatencyResult> results) {
        CategoryChart chart = Charts.chart("latency of a " + direction.label(), X_AXIS, "microseconds");
        List<String> sizes = results.stream().map(result -> ByteSize.exact(result.requestBytes())).toList();
        Charts.line(chart, "baseline 50 %", sizes, percentile(results, LatencyResult::baseline, 50), Charts.GREY,
            false);
        Charts.line(chart, "99 %", sizes, percentile(results, LatencyResult::baseline, 99), Charts.GREY, true);
        Charts.line(chart, "protocol 50 %", sizes, percentile(results, LatencyResult::protocol, 50),
            ChartLook.colour(0),
            false);
        // Two lines of a chart cannot have the same name, so this name has a blank at the end.
        Charts.line(chart, "99 % ", sizes, percentile(results, LatencyResult::protocol, 99), ChartLook.colour(0), true);
        Charts.logarithmic(chart);
        return chart;
    }

    private static List<Double> percentile(
        List<LatencyResult> results, Function<LatencyResult, Histogram> side, double percent) {
        return results.stream().map(result -> Units.microseconds(side.apply(result), percent)).toList();
    }
}
