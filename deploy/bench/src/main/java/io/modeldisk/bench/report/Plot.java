package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.picture.ChartLook;
import io.modeldisk.platform.units.ByteSize;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
import org.knowm.xchart.CategoryChart;

/** A plot of throughput and latency over the size of requests, as SVG or PNG. */
public final class Plot {
    private static final String X_AXIS = "size of a request";
    private static final double MICRO = 1e3;
    private static final String BASELINE = "bare sockets";

    private Plot() {}

    /**
     * Checks that a file can be plotted to, before anything is measured.
     *
     * @throws IllegalArgumentException if its name does not end in .svg or .png
     */
    public static void check(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (!name.endsWith(".svg") && !name.endsWith(".png")) {
            throw new IllegalArgumentException("--plot " + file + " must end in .svg or .png");
        }
    }

    /** Draws what was found. */
    public static void write(ProtocolReport report, Path file) throws IOException {
        Charts.write(charts(report), file);
    }

    /** A row for each queue depth, a chart for each direction; below them latency. */
    private static List<List<CategoryChart>> charts(ProtocolReport report) {
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
        String name = direction == Direction.BOTH ? "push and pull at once" : name(direction);
        CategoryChart chart = Charts.chart("%s, %d request%s deep".formatted(name, depth, depth == 1 ? "" : "s"),
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
        CategoryChart chart = Charts.chart("latency of a " + name(direction), X_AXIS, "microseconds");
        List<String> sizes = results.stream().map(result -> ByteSize.exact(result.requestBytes())).toList();
        Charts.line(chart, "sockets 50 %", sizes, percentile(results, LatencyResult::baseline, 50), Charts.GREY, false);
        Charts.line(chart, "99 %", sizes, percentile(results, LatencyResult::baseline, 99), Charts.GREY, true);
        Charts.line(chart, "protocol 50 %", sizes, percentile(results, LatencyResult::protocol, 50),
            ChartLook.colour(0),
            false);
        // A name is a series' key: the blank tells it from the other, and is not seen.
        Charts.line(chart, "99 % ", sizes, percentile(results, LatencyResult::protocol, 99), ChartLook.colour(0), true);
        Charts.logarithmic(chart);
        return chart;
    }

    private static List<Double> percentile(
        List<LatencyResult> results, Function<LatencyResult, Histogram> side, double percent) {
        return results.stream().map(result -> side.apply(result).getValueAtPercentile(percent) / MICRO).toList();
    }

    private static String name(Direction direction) {
        return direction.name().toLowerCase(Locale.ROOT);
    }
}
