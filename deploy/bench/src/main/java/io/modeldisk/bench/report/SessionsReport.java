package io.modeldisk.bench.report;

import java.util.List;

/**
 * What many sessions on one shard got, and what they cost it.
 *
 * @param seconds how long they were at it
 * @param movedBytes by session
 * @param longestNanos a session's slowest request, by session
 * @param stoppedReaders how many more there were that read nothing
 * @param busy how many commands were refused as BUSY
 * @param taskSetFull how many were refused as TASK SET FULL
 * @param failures what ended a session, in words, once each
 * @param samples the shard's memory and threads, from the beginning to the end; empty if that is not known
 */
public record SessionsReport(
    double seconds,
    List<Long> movedBytes,
    List<Long> longestNanos,
    int stoppedReaders,
    long busy,
    long taskSetFull,
    List<String> failures,
    List<Sample> samples) {
    /**
     * The shard's process at one moment.
     *
     * @param residentBytes the memory that it has touched
     * @param threads how many threads it has
     */
    public record Sample(long residentBytes, int threads) {}

    /** The median session's bytes over the slowest one's: 1 if all got the same. */
    public double unfairness() {
        Samples moved = moved();
        return moved.median() / moved.min();
    }

    /** Each session's bytes. */
    public Samples moved() {
        return Samples.of(movedBytes.stream().mapToDouble(Long::doubleValue).toArray());
    }
}
