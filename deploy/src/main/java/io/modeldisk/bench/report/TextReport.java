package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Load;
import java.util.List;
import java.util.Locale;

/** The tables that a benchmark prints. */
public final class TextReport {
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
}
