package io.modeldisk.mount.exchange;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/**
 * Measurements of one quantity: their sum, their mean, and the last value. All three are 0 before the first measurement.
 * Thread-safe.
 */
public final class Series {
    private final DoubleAdder sum = new DoubleAdder();
    private final LongAdder count = new LongAdder();
    private volatile double last;

    void add(double value) {
        sum.add(value);
        count.increment();
        last = value;
    }

    /** Adds a duration in nanoseconds. The values of the series are in milliseconds. */
    void addNs(long durationNs) {
        add(durationNs / (double) TimeUnit.MILLISECONDS.toNanos(1));
    }

    /** Returns whether nothing was measured yet. */
    public boolean isEmpty() {
        return count.sum() == 0;
    }

    /** Returns the sum of all values. */
    public double sum() {
        return sum.sum();
    }

    /** Returns the mean of all values. */
    public double mean() {
        return sum.sum() / Math.max(1, count.sum());
    }

    /** Returns the last value. */
    public double last() {
        return last;
    }
}
