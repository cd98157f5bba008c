package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import java.util.List;
import java.util.LongSummaryStatistics;

/**
 * The result of {@code bench sessions}: the throughput and latency of each session on one shard, and the memory of the shard.
 *
 * @param seconds the duration of the run
 * @param movedBytes the number of bytes that each session pushed and pulled
 * @param longestNs the latency of the slowest request of each session
 * @param stoppedReaders the number of additional sessions, which request weights and do not read them
 * @param busy the number of commands that completed with BUSY
 * @param taskSetFull the number of commands that completed with TASK SET FULL
 * @param failures the error messages of the failed sessions, without duplicates
 * @param samples the memory and threads of the shard over time; empty if unknown
 */
public record SessionsReport(
    double seconds,
    List<Long> movedBytes,
    List<Long> longestNs,
    int stoppedReaders,
    long busy,
    long taskSetFull,
    List<String> failures,
    List<Sample> samples) implements Report {
    /**
     * The resources of the shard's process at one time.
     *
     * @param residentBytes the resident memory of the process
     * @param threads the number of threads of the process
     */
    public record Sample(long residentBytes, int threads) {}

    /** The ratio of the bytes that the median session moved to the bytes that the slowest session moved. The optimum is 1. */
    public double unfairness() {
        Samples moved = moved();
        return moved.median() / moved.min();
    }

    private Samples moved() {
        return Samples.of(movedBytes.stream().mapToDouble(Long::doubleValue).toArray());
    }

    @Override
    public String benchmark() {
        return "sessions";
    }

    @Override
    public String text() {
        Samples moved = moved();
        Samples longest = Samples.of(longestNs.stream().mapToDouble(Long::doubleValue).toArray());
        Table table = new Table(1, "", "minimum", "median", "maximum");
        table.row("MB/s of a session", megabytes(moved.min()), megabytes(moved.median()), megabytes(moved.max()));
        table.row("slowest request, ms", millis(longest.min()), millis(longest.median()), millis(longest.max()));
        StringBuilder text = new StringBuilder(
            PlainText.format("%d sessions push and pull for %.0f s%s: %s GB/s in total%n%n", movedBytes.size(), seconds,
                stoppedReaders == 0 ? "" : PlainText.format(", beside %d sessions that read nothing", stoppedReaders),
                Units.throughput(movedBytes.stream().mapToLong(Long::longValue).sum() / seconds)));
        text.append(table)
            .append(
                PlainText.format("%nthe median session is %.2f times as fast as the slowest session%n", unfairness()));
        text.append(
            PlainText.format("commands refused: %d BUSY, %d TASK SET FULL; failed sessions: %s%n", busy, taskSetFull,
                failures.isEmpty() ? "none" : String.join("; ", failures)));
        if (!samples.isEmpty()) {
            LongSummaryStatistics resident = samples.stream().mapToLong(Sample::residentBytes).summaryStatistics();
            text.append(PlainText.format(
                "memory of the shard: %s at the start, %s at the end, %s at most; %d threads%n",
                ByteSize.format(samples.getFirst().residentBytes()), ByteSize.format(samples.getLast().residentBytes()),
                ByteSize.format(resident.getMax()), samples.getLast().threads()));
        }
        return text.toString();
    }

    private String megabytes(double bytes) {
        return PlainText.format("%.2f", bytes / seconds / 1e6);
    }

    private static String millis(double ns) {
        return PlainText.format("%.1f", ns / 1e6);
    }

    @Override
    public void addTo(ObjectNode root) {
        root.put("seconds", seconds).put("stoppedReaders", stoppedReaders).put("busy", busy)
            .put("taskSetFull", taskSetFull).put("medianOverSlowest", unfairness());
        movedBytes.forEach(bytes -> root.withArray("movedBytes").add(bytes));
        longestNs.forEach(ns -> root.withArray("longestMicroseconds").add(Units.microseconds(ns)));
        failures.forEach(failure -> root.withArray("failures").add(failure));
        samples.forEach(sample -> root.withArray("shardResidentBytes").add(sample.residentBytes()));
    }
}
