package io.modeldisk.admin.overview;

import java.util.concurrent.TimeUnit;

/** The rate at which a counter has grown during its last samples. Starts again if the counter falls. Not thread-safe. */
final class RateWindow {
    private static final int SAMPLES = 6;

    private final long[] atNs = new long[SAMPLES];
    private final long[] values = new long[SAMPLES];
    private int count;

    void add(long nowNs, long value) {
        if (count > 0 && value < values[count - 1]) {
            count = 0;
        }
        if (count == SAMPLES) {
            System.arraycopy(atNs, 1, atNs, 0, SAMPLES - 1);
            System.arraycopy(values, 1, values, 0, SAMPLES - 1);
            count--;
        }
        atNs[count] = nowNs;
        values[count] = value;
        count++;
    }

    void clear() {
        count = 0;
    }

    /** Returns the rate, or NaN if there is only one sample. */
    double perSecond() {
        if (count < 2 || atNs[count - 1] == atNs[0]) {
            return Double.NaN;
        }
        return (values[count - 1] - values[0]) * (double) TimeUnit.SECONDS.toNanos(1) / (atNs[count - 1] - atNs[0]);
    }
}
