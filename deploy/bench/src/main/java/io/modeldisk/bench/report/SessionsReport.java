package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.units.ByteSize;
import java.util.List;
import java.util.LongSummaryStatistics;

/**
 * The result of {@code bench sessions}: the throughput and latency of each session on one shard, and the shard's memory.
 *
 * @param seconds the duration of the run
 * @param movedBytes pushed and pulled by each session
 * @param longestNs the latency of the slowest request of each session
 * @param stoppedReaders the number of further sessions, which request weights and never read them
 * @param busy the number of commands that ended with BUSY
 * @param taskSetFull the number of commands that ended with TASK SET FULL
 * @param failures the messages with which sessions failed, each once
 * @param samples the shard's memory and threads over time; empty if unknown
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
     * The shard's process at one moment.
     *
     * @param residentBytes its resident memory
     * @param threads its number of threads
     */
    public record Sample(long residentBytes, int threads) {}

    /** The median session's bytes over the slowest session's; 1 is the optimum. */
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
        StringBuilder text = new StringBuilder("%d sessions push and pull for %.0f s%s: %s GB/s in total%n%n".formatted(
            movedBytes.size(), seconds,
            stoppedReaders == 0 ? "" : ", beside %d that read nothing".formatted(stoppedReaders),
            Units.throughput(movedBytes.stream().mapToLong(Long::longValue).sum() / seconds)));
        text.append(table)
            .append("%nthe median session is %.2f times as fast as the slowest%n".formatted(unfairness()));
        text.append("commands refused: %d BUSY, %d TASK SET FULL; failed sessions: %s%n".formatted(busy, taskSetFull,
            failures.isEmpty() ? "none" : String.join("; ", failures)));
        if (!samples.isEmpty()) {
            LongSummaryStatistics resident = samples.stream().mapToLong(Sample::residentBytes).summaryStatistics();
            text.append("memory of the shard: %s at the start, %s at the end, %s at most; %d threads%n".formatted(
                ByteSize.format(samples.getFirst().residentBytes()), ByteSize.format(samples.getLast().residentBytes()),
                ByteSize.format(resident.getMax()), samples.getLast().threads()));
        }
        return text.toString();
    }

    private String megabytes(double bytes) {
        return "%.2f".formatted(bytes / seconds / 1e6);
    }

    private static String millis(double ns) {
        return "%.1f".formatted(ns / 1e6);
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
