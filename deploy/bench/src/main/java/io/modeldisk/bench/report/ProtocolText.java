package io.modeldisk.bench.report;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.List;

/** The tables of {@code bench protocol}. */
final class ProtocolText {
    private static final String PART_OF_BLOCK = " *";
    /** Blanks of the same width as {@link #PART_OF_BLOCK}, which align the columns. */
    private static final String UNMARKED = "  ";
    private static final String FOOTNOTE = """

        * less than 4 KiB: a push moves a logical block; a pull and the baseline move only the requested bytes
        """;

    private ProtocolText() {}

    static String of(ProtocolReport report) {
        StringBuilder text = new StringBuilder();
        if (!report.throughput().isEmpty()) {
            int runs = report.throughput().getFirst().protocol().values().length;
            text.append(PlainText.format("Throughput of one session: %s; ratios: median (minimum-maximum)%n%n",
                runs == 1 ? "one run" : "medians of " + runs + " runs, in alternation with the baseline"))
                .append(throughput(report.throughput())).append('\n');
        }
        if (!report.latency().isEmpty()) {
            text.append("Latency of one request at a time, in microseconds\n\n").append(latency(report.latency()))
                .append('\n');
        }
        return text.toString();
    }

    static String throughput(List<ThroughputResult> results) {
        boolean withSgd = results.stream().anyMatch(result -> result.baselineWithSgd() != null);
        boolean withAlone = results.stream().anyMatch(result -> result.alone() != null);
        Table table = new Table(2, "aggregator", "direction", "request", "depth", "baseline GB/s", "protocol GB/s",
            "protocol / baseline", withSgd ? "baseline with sgd GB/s" : "", withAlone ? "one thread GB/s" : "",
            withAlone ? "protocol / one thread" : "");
        ThroughputResult before = null;
        for (ThroughputResult result : results) {
            if (before != null && !result.aggregator().equals(before.aggregator())) {
                table.gap();
            }
            table.row(result.aggregator(), result.direction().label(), ByteSize.exact(result.requestBytes()),
                Integer.toString(result.queueDepth()), Units.throughput(result.baseline().median()),
                Units.throughput(result.protocol().median()), Units.ratio(result.ratio()),
                result.baselineWithSgd() == null ? "" : Units.throughput(result.baselineWithSgd().median()),
                result.alone() == null ? "" : Units.throughput(result.alone().median()),
                result.alone() == null ? "" : Units.ratio(result.ratioToAlone()));
            before = result;
        }
        return table.toString();
    }

    static String latency(List<LatencyResult> results) {
        Table table = new Table(1, "direction", "request", "baseline 50 %", "99 %", "99.9 %", "protocol 50 %", "99 %",
            "99.9 %", "difference at 50 %");
        boolean noted = results.stream().anyMatch(ProtocolText::isPartOfBlock);
        LatencyResult before = null;
        for (LatencyResult result : results) {
            if (before != null && result.direction() != before.direction()) {
                table.gap();
            }
            table.row(result.direction().label(),
                ByteSize.exact(result.requestBytes())
                    + (isPartOfBlock(result) ? PART_OF_BLOCK : noted ? UNMARKED : ""),
                Units.latency(result.baseline(), 50), Units.latency(result.baseline(), 99),
                Units.latency(result.baseline(), 99.9), Units.latency(result.protocol(), 50),
                Units.latency(result.protocol(), 99), Units.latency(result.protocol(), 99.9), PlainText.format("%.1f",
                    Units.microseconds(result.protocol(), 50) - Units.microseconds(result.baseline(), 50)));
            before = result;
        }
        return table + (noted ? FOOTNOTE : "");
    }

    private static boolean isPartOfBlock(LatencyResult result) {
        return result.requestBytes() < LogicalBlock.BYTES;
    }
}
