package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;

/**
 * The result of {@code bench start}. Times are in seconds.
 *
 * @param bytes the size of the shard, and of the memory that the C program fills
 * @param shard the time from the start of the process until the shard is ready
 * @param memset the time of malloc and memset in one thread
 */
public record StartReport(long bytes, String consistency, Samples shard, Samples memset) implements Report {
    @Override
    public String benchmark() {
        return "start";
    }

    @Override
    public String text() {
        return new Table(1, ByteSize.format(bytes), "seconds", "minimum", "maximum", "ratio of the shard to this")
            .row(cells("shard until ready, " + consistency, shard, ""))
            .row(cells("memset, one thread in C", memset, Units.ratio(shard.over(memset))))
            .toString();
    }

    private static String[] cells(String name, Samples seconds, String ratio) {
        return new String[]{name, format(seconds.median()), format(seconds.min()), format(seconds.max()), ratio};
    }

    private static String format(double seconds) {
        return PlainText.format("%.2f", seconds);
    }

    @Override
    public void addTo(ObjectNode root) {
        root.put("bytes", bytes).put("consistency", consistency);
        ReportFiles.put(root, "shardSeconds", shard);
        ReportFiles.put(root, "memsetSeconds", memset);
        ReportFiles.put(root, "shardOverMemset", shard.over(memset));
    }
}
