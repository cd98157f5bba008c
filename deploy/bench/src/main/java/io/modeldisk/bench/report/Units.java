package io.modeldisk.bench.report;

import io.modeldisk.platform.text.PlainText;
import org.HdrHistogram.Histogram;

/** Formats figures for reports. Throughput is in GB/s (10^9 bytes per second). Latency is in microseconds. */
public final class Units {
    private static final double GIGA = 1e9;
    private static final double MICRO_NS = 1e3;
    private static final double SLOW = 0.1;

    private Units() {}

    static double gigabytes(double bytes) {
        return bytes / GIGA;
    }

    static double microseconds(double ns) {
        return ns / MICRO_NS;
    }

    static double microseconds(Histogram nanoseconds, double percentile) {
        return microseconds(nanoseconds.getValueAtPercentile(percentile));
    }

    /** Formats a percentile in microseconds with one decimal, such as {@code 20.1}. */
    static String latency(Histogram nanoseconds, double percentile) {
        return PlainText.format("%.1f", microseconds(nanoseconds, percentile));
    }

    /**
     * Formats a throughput with two decimals, such as {@code 3.52}. Below 0.1 GB/s, uses four decimals, such as {@code 0.0352}.
     */
    public static String throughput(double bytesPerSecond) {
        double gigabytes = gigabytes(bytesPerSecond);
        return PlainText.format(gigabytes > 0 && gigabytes < SLOW ? "%.4f" : "%.2f", gigabytes);
    }

    /** Formats the median, minimum and maximum of samples, such as {@code 0.94 (0.91-0.97)}. */
    static String ratio(Samples samples) {
        return PlainText.format("%.2f (%.2f-%.2f)", samples.median(), samples.min(), samples.max());
    }
}
