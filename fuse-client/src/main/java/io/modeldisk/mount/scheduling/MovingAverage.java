package io.modeldisk.mount.scheduling;

/**
 * An exponential moving average over a window of <i>n</i> samples, and the mean absolute deviation from this average. A new
 * sample has the weight 2 / (n + 1). After 2.5 n further samples, less than 1 % of this weight is left. The first samples have
 * equal weights, as in an arithmetic mean. The first deviation is half of the first sample, as in RFC 6298 for a round-trip time.
 * Not thread-safe.
 */
final class MovingAverage {
    private final double leastWeight;
    private long samples;
    private double mean;
    private double deviation;

    /** Creates an average over a window of this number of samples, at least 1. */
    MovingAverage(int window) {
        this.leastWeight = 2.0 / (window + 1);
    }

    /** Adds a sample. */
    void add(double sample) {
        samples++;
        if (samples == 1) {
            mean = sample;
            deviation = sample / 2;
            return;
        }
        double weight = Math.max(leastWeight, 1.0 / samples);
        deviation += weight * (Math.abs(sample - mean) - deviation);
        mean += weight * (sample - mean);
    }

    boolean isEmpty() {
        return samples == 0;
    }

    /** Returns the average; 0 before the first sample. */
    double mean() {
        return mean;
    }

    /** Returns the mean absolute deviation from the average; 0 before the first sample. */
    double deviation() {
        return deviation;
    }
}
