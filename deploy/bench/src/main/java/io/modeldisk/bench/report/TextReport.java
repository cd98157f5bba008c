package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Load;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import org.HdrHistogram.Histogram;

/** The tables that a benchmark prints. */
public final class TextReport {
    private static final double MICRO = 1e3;
    private static final String PART_OF_BLOCK = " *";
    /** As wide as the mark, so that the figures of all rows stand below each other. */
    private static final String UNMARKED = "  ";
    private static final String FOOTNOTE = """

        * of less than 4 KiB: a push moves a whole logical block, a pull takes part of one; the baseline moves these bytes alone
        """;

    private TextReport() {}

    /** What is being measured, in a few words. */
    public static String describe(String aggregator, Load load) {
        return "%s: %s of %s, %d deep".formatted(aggregator, load.direction().name().toLowerCase(Locale.ROOT),
            ByteSize.exact(load.requestBytes()), load.queueDepth());
    }

    /** Throughput beside the baseline. */
    public static String throughput(List<ThroughputResult> results) {
        boolean withSgd = results.stream().anyMatch(result -> result.baselineWithSgd() != null);
        boolean withAlone = results.stream().anyMatch(result -> result.alone() != null);
        Table table = new Table(2, "aggregator", "direction", "request", "depth", "baseline GB/s", "protocol GB/s",
            "of the baseline", withSgd ? "baseline with sgd" : "", withAlone ? "alone GB/s" : "",
            withAlone ? "of alone" : "");
        ThroughputResult before = null;
        for (ThroughputResult result : results) {
            if (before != null && !result.aggregator().equals(before.aggregator())) {
                table.gap();
            }
            table.row(result.aggregator(), result.direction().name().toLowerCase(Locale.ROOT),
                ByteSize.exact(result.requestBytes()), Integer.toString(result.queueDepth()),
                Units.throughput(result.baseline().median()), Units.throughput(result.protocol().median()),
                Units.ratio(result.ratio()),
                result.baselineWithSgd() == null ? "" : Units.throughput(result.baselineWithSgd().median()),
                result.alone() == null ? "" : Units.throughput(result.alone().median()),
                result.alone() == null ? "" : Units.ratio(result.ratioToAlone()));
            before = result;
        }
        return table.toString();
    }

    /** Latency beside the baseline. */
    public static String latency(List<LatencyResult> results) {
        Table table = new Table(1, "direction", "request", "baseline 50 %", "99 %", "99.9 %", "protocol 50 %", "99 %",
            "99.9 %", "more at 50 %");
        boolean noted = results.stream().anyMatch(TextReport::partOfBlock);
        LatencyResult before = null;
        for (LatencyResult result : results) {
            if (before != null && result.direction() != before.direction()) {
                table.gap();
            }
            table.row(result.direction().name().toLowerCase(Locale.ROOT),
                ByteSize.exact(result.requestBytes()) + (partOfBlock(result) ? PART_OF_BLOCK : noted ? UNMARKED : ""),
                micros(result.baseline(), 50), micros(result.baseline(), 99), micros(result.baseline(), 99.9),
                micros(result.protocol(), 50), micros(result.protocol(), 99), micros(result.protocol(), 99.9),
                "%.1f"
                    .formatted((result.protocol().getValueAtPercentile(50) - result.baseline().getValueAtPercentile(50))
                        / MICRO));
            before = result;
        }
        return table + (noted ? FOOTNOTE : "");
    }

    private static boolean partOfBlock(LatencyResult result) {
        return result.requestBytes() < LogicalBlock.BYTES;
    }

    /** What many sessions got. */
    public static String sessions(SessionsReport report) {
        Samples moved = report.moved();
        Samples longest = Samples.of(report.longestNanos().stream().mapToDouble(Long::doubleValue).toArray());
        Table table = new Table(1, "", "least", "median", "most");
        table.row("a session's MB/s", mega(moved.min(), report), mega(moved.median(), report),
            mega(moved.max(), report));
        table.row("its slowest request, ms", millis(longest.min()), millis(longest.median()), millis(longest.max()));
        StringBuilder text = new StringBuilder("%d sessions push and pull for %.0f s%s: %s GB/s together%n%n".formatted(
            report.movedBytes().size(), report.seconds(),
            report.stoppedReaders() == 0 ? "" : ", beside %d that read nothing".formatted(report.stoppedReaders()),
            Units.throughput(report.movedBytes().stream().mapToLong(Long::longValue).sum() / report.seconds())));
        text.append(table).append("%nthe slowest session is %.2f times behind the median%n".formatted(
            report.unfairness()));
        text.append("refused: %d BUSY, %d TASK SET FULL; sessions that failed: %s%n".formatted(report.busy(),
            report.taskSetFull(), report.failures().isEmpty() ? "none" : String.join("; ", report.failures())));
        if (!report.samples().isEmpty()) {
            LongSummaryStatistics resident = report.samples().stream()
                .mapToLong(SessionsReport.Sample::residentBytes).summaryStatistics();
            text.append("the shard's memory: %s at first, %s at the end, %s at most; %d threads%n".formatted(
                mebibytes(report.samples().getFirst().residentBytes()),
                mebibytes(report.samples().getLast().residentBytes()), mebibytes(resident.getMax()),
                report.samples().getLast().threads()));
        }
        return text.toString();
    }

    /** An aggregator beside C: gradients in a second, and the ratios of runs that were made in turn. */
    public static String aggregator(String name, Samples aggregator, Samples loop, Samples copy) {
        return new Table(1, "", "GB/s", name + " is of it")
            .row(name, Units.throughput(aggregator.median()), "")
            .row("sgd, a loop in C", Units.throughput(loop.median()), Units.ratio(aggregator.over(loop)))
            .row("memcpy", Units.throughput(copy.median()), Units.ratio(aggregator.over(copy)))
            .toString();
    }

    private static String mega(double bytes, SessionsReport report) {
        return "%.2f".formatted(bytes / report.seconds() / 1e6);
    }

    private static String millis(double nanos) {
        return "%.1f".formatted(nanos / 1e6);
    }

    private static String mebibytes(long bytes) {
        return "%.0f MiB".formatted(bytes / (double) (1 << 20));
    }

    private static String micros(Histogram nanoseconds, double percent) {
        return "%.1f".formatted(nanoseconds.getValueAtPercentile(percent) / MICRO);
    }
}
