package io.modeldisk.bench.protocol;

import java.util.List;

/**
 * The plan of a measurement of latency.
 *
 * @param requestBytes the sizes of requests
 * @param pairs the number of turns of each side
 * @param runMs the approximate duration of a turn
 */
public record LatencyPlan(List<Integer> requestBytes, int pairs, long runMs) {}
