package io.modeldisk.bench.report;

import java.util.Locale;

/** Figures as people read them: sizes in powers of 1024, throughput in GB/s, a thousand million bytes. */
public final class Units {
    private static final double GIGA = 1e9;
    private static final double SLOW = 0.1;
    private static final String[] SIZES = {"B", "KiB", "MiB", "GiB"};

    private Units() {}

    /** {@code 256 KiB}. */
    public static String size(long bytes) {
        int unit = 0;
        long value = bytes;
        while (value >= 1024 && value % 1024 == 0 && unit < SIZES.length - 1) {
            value /= 1024;
            unit++;
        }
        return value + " " + SIZES[unit];
    }

    static double gigabytes(double bytes) {
        return bytes / GIGA;
    }

    /** {@code 3.52}; where a machine is so slow that this would tell nothing, {@code 0.0352}. */
    public static String throughput(double bytesPerSecond) {
        double gigabytes = gigabytes(bytesPerSecond);
        return String.format(Locale.ROOT, gigabytes > 0 && gigabytes < SLOW ? "%.4f" : "%.2f", gigabytes);
    }

    /** {@code 0.94 (0.91-0.97)}: the median and the spread. */
    static String ratio(Samples samples) {
        return "%.2f (%.2f-%.2f)".formatted(samples.median(), samples.min(), samples.max());
    }
}
