package io.modeldisk.bench.report;

import java.util.List;

/**
 * Everything that a run of {@code bench protocol} found.
 *
 * @param modelBytes the size of the shard's model
 * @param throughput what was moved in a second; empty if that was not measured
 * @param latency how long single requests took; empty if that was not measured
 */
public record ProtocolReport(long modelBytes, List<ThroughputResult> throughput, List<LatencyResult> latency) {}
