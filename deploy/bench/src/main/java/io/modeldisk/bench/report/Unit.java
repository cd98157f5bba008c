package io.modeldisk.bench.report;

import io.modeldisk.platform.text.PlainText;

/** The unit of a figure, in tables, charts and JSON. */
public enum Unit {
    /** 10^9 bytes per second. */
    GIGABYTES_PER_SECOND("GB/s", "%.2f"),
    /** Requests per second. */
    REQUESTS_PER_SECOND("requests/s", "%.0f"),
    /** Milliseconds. */
    MILLISECONDS("ms", "%.2f"),
    /** Microseconds. */
    MICROSECONDS("us", "%.1f"),
    /** 2^20 bytes. */
    MEBIBYTES("MiB", "%.1f"),
    /** A figure without a unit. */
    NUMBER("", "%.2f"),
    /** A figure divided by another figure of the same turn. Tables also show the minimum and the maximum. */
    RATIO("", "%.2f");

    private static final double SLOW = 0.1;

    private final String label;
    private final String format;

    Unit(String label, String format) {
        this.label = label;
        this.format = format;
    }

    /** The name of the unit; empty for a number. */
    String label() {
        return label;
    }

    /** Formats the median, such as {@code 3.52}. A ratio also shows the minimum and the maximum: {@code 0.94 (0.91-0.97)}. */
    public String format(Samples samples) {
        return this == RATIO
            ? format(samples.median()) + " (" + format(samples.min()) + "-" + format(samples.max()) + ")"
            : format(samples.median());
    }

    /** Formats a value. A throughput below 0.1 GB/s, such as over an emulated RDMA device, has more decimals. */
    private String format(double value) {
        boolean slow = this == GIGABYTES_PER_SECOND && value > 0 && value < SLOW;
        return PlainText.format(slow ? "%.4f" : format, value);
    }
}
