package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Load;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** The tables that a benchmark prints. */
public final class TextReport {
    private static final double MICRO = 1e3;

    private TextReport() {}

    /** What is being measured, in a few words. */
    public static String describe(String aggregator, Load load) {
        return "%s: %s of %s, %d deep".formatted(aggregator, load.direction().name().toLowerCase(Locale.ROOT),
            Units.size(load.requestBytes()), load.queueDepth());
    }

    /** Throughput beside the floor. */
    public static String throughput(List<ThroughputResult> results) {
        boolean withSgd = results.stream().anyMatch(result -> result.floorWithSgd() != null);
        Table table = new Table(2, "aggregator", "direction", "request", "depth", "floor GB/s", "protocol GB/s",
            "of the floor", withSgd ? "floor with sgd" : "");
        ThroughputResult before = null;
        for (ThroughputResult result : results) {
            if (before != null && !result.aggregator().equals(before.aggregator())) {
                table.gap();
            }
            table.row(result.aggregator(), result.direction().name().toLowerCase(Locale.ROOT),
                Units.size(result.requestBytes()), Integer.toString(result.queueDepth()),
                Units.throughput(result.floor().median()), Units.throughput(result.protocol().median()),
                Units.ratio(result.ratio()),
                result.floorWithSgd() == null ? "" : Units.throughput(result.floorWithSgd().median()));
            before = result;
        }
        return table.toString();
    }

    /** Latency beside the floor. */
    public static String latency(List<LatencyResult> results) {
        Table table = new Table(1, "direction", "request", "floor 50 %", "99 %", "99.9 %", "protocol 50 %", "99 %",
            "99.9 %", "more at 50 %");
        LatencyResult before = null;
        for (LatencyResult result : results) {
            if (before != null && result.direction() != before.direction()) {
                table.gap();
            }
            table.row(result.direction().name().toLowerCase(Locale.ROOT), Units.size(result.requestBytes()),
                micros(result.floor(), 50), micros(result.floor(), 99), micros(result.floor(), 99.9),
                micros(result.protocol(), 50), micros(result.protocol(), 99), micros(result.protocol(), 99.9),
                "%.1f".formatted((result.protocol().getValueAtPercentile(50) - result.floor().getValueAtPercentile(50))
                    / MICRO));
            before = result;
        }
        return table.toString();
    }

    private static String micros(Histogram nanoseconds, double percent) {
        return "%.1f".formatted(nanoseconds.getValueAtPercentile(percent) / MICRO);
    }
}
