package io.modeldisk.mount.scheduling;

/**
 * An exponential moving average and the mean absolute deviation from it, both over a window of <i>n</i> samples. Each sample
 * weighs 2 / (n + 1); after 2.5 n further samples, less than 1 % of it is left. The first samples weigh as in an arithmetic mean.
 * After the first sample the deviation is half of it, as RFC 6298 has it for a round-trip time. Not thread-safe.
 */
final class MovingAverage {
    private final double leastWeight;
    private long samples;
    private double mean;
    private double deviation;

    /** An average over this many samples, at least 1. */
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

    /** The average; 0 before the first sample. */
    double mean() {
        return mean;
    }

    /** The mean absolute deviation from the average; 0 before the first sample. */
    double deviation() {
        return deviation;
    }
}
