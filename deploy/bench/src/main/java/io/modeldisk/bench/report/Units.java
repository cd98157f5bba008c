package io.modeldisk.bench.report;

import java.util.Locale;

/** Throughput and ratios as reports show them. Throughput is in GB/s, 10^9 bytes a second. */
public final class Units {
    private static final double GIGA = 1e9;
    private static final double SLOW = 0.1;

    private Units() {}

    static double gigabytes(double bytes) {
        return bytes / GIGA;
    }

    /** Two decimals, {@code 3.52}; four below 0.1 GB/s, {@code 0.0352}. */
    public static String throughput(double bytesPerSecond) {
        double gigabytes = gigabytes(bytesPerSecond);
        return String.format(Locale.ROOT, gigabytes > 0 && gigabytes < SLOW ? "%.4f" : "%.2f", gigabytes);
    }

    /** {@code 0.94 (0.91-0.97)}: the median and the spread. */
    static String ratio(Samples samples) {
        return "%.2f (%.2f-%.2f)".formatted(samples.median(), samples.min(), samples.max());
    }
}
