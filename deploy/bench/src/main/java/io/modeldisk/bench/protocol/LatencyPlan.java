package io.modeldisk.bench.protocol;

import java.util.List;

/**
 * What latency is to be measured of.
 *
 * @param requestBytes the sizes of requests
 * @param pairs how often those that are measured take turns
 * @param runMillis how long a turn takes, about
 */
public record LatencyPlan(List<Integer> requestBytes, int pairs, long runMillis) {}
