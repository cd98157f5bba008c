package io.modeldisk.bench.protocol;

import java.util.List;

/**
 * The plan of a latency measurement.
 *
 * @param requestBytes the sizes of requests
 * @param pairs the number of measurements of each requester; the measurements of the requesters alternate
 * @param runMs the approximate duration of a measurement
 */
public record LatencyPlan(List<Integer> requestBytes, int pairs, long runMs) {}
