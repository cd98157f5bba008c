package io.modeldisk.bench.protocol;

import java.util.List;

/**
 * The plan of a latency measurement.
 *
 * @param requestBytes the sizes of requests
 * @param pairs the number of turns of each requester
 * @param runMs the approximate duration of a turn
 */
public record LatencyPlan(List<Integer> requestBytes, int pairs, long runMs) {}
