package io.modeldisk.bench.micro;

/**
 * What a run found.
 *
 * @param requests how many requests have ended, of all clients together
 * @param nanos from the first request's start to the last one's end
 * @param p50Micros how long a request took, the median
 * @param p99Micros the same of the slowest in a hundred
 */
record Outcome(long requests, long nanos, double p50Micros, double p99Micros) {
    private static final double SECOND_NANOS = 1e9;

    double requestsPerSecond() {
        return requests * SECOND_NANOS / nanos;
    }
}
