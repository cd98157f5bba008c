package io.modeldisk.mount.scheduling;

/**
 * An exponential moving average and the mean absolute deviation from it, both over a window of <i>n</i> samples: each sample
 * weighs 2 / (n + 1), so that after 2.5 n further ones less than 1 % of it is left. The first samples weigh as in a plain mean.
 * Until there are some, the deviation is taken for half of the mean, as RFC 6298 takes it for a round-trip time. Not thread-safe.
 */
final class MovingAverage {
    private final double leastWeight;
    private long samples;
    private double mean;
    private double deviation;

    /** An average over this many samples, from 1. */
    MovingAverage(int window) {
        this.leastWeight = 2.0 / (window + 1);
    }

    /** Counts one more sample. */
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

    /** How far samples are from it, on average; 0 before the first sample. */
    double deviation() {
        return deviation;
    }
}
