package io.modeldisk.bench.micro;

/**
 * The result of a run.
 *
 * @param requests the number of requests that ended, sum of all clients
 * @param nanos the time from the start of the first request to the end of the last one
 * @param p50Micros the median latency
 * @param p99Micros the 99th percentile of the latency
 */
record Outcome(long requests, long nanos, double p50Micros, double p99Micros) {
    private static final double SECOND_NANOS = 1e9;

    double requestsPerSecond() {
        return requests * SECOND_NANOS / nanos;
    }
}
