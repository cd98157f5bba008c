package io.modeldisk.bench.micro;

/**
 * The outcome of one measurement, in which one or more clients send requests.
 *
 * @param requests the number of completed requests, as the sum over all clients
 * @param nanos the nanoseconds from the start of the first request to the completion of the last request
 * @param p50Micros the median latency, in microseconds
 * @param p99Micros the 99th percentile of the latency, in microseconds
 */
record Outcome(long requests, long nanos, double p50Micros, double p99Micros) {
    private static final double SECOND_NS = 1e9;

    double requestsPerSecond() {
        return requests * SECOND_NS / nanos;
    }
}
