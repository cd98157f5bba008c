package io.modeldisk.server;

/** The minimum, the maximum and the sum of some values. */
final class MinMax {
    private long min = Long.MAX_VALUE;
    private long max = Long.MIN_VALUE;
    private long total;

    void add(long value) {
        min = Math.min(min, value);
        max = Math.max(max, value);
        total += value;
    }

    /** Whether there was any value. */
    boolean isKnown() {
        return min <= max;
    }

    long total() {
        return total;
    }

    /** The least value; {@link Long#MAX_VALUE} before the first. */
    long min() {
        return min;
    }

    /** The greatest value; {@link Long#MIN_VALUE} before the first. */
    long max() {
        return max;
    }
}
