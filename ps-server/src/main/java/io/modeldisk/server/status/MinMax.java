package io.modeldisk.server.status;

/** The minimum, the maximum and the sum of the added values. */
final class MinMax {
    private long min = Long.MAX_VALUE;
    private long max = Long.MIN_VALUE;
    private long total;

    void add(long value) {
        min = Math.min(min, value);
        max = Math.max(max, value);
        total += value;
    }

    /** Returns whether any value was added. */
    boolean isKnown() {
        return min <= max;
    }

    long total() {
        return total;
    }

    /** The lowest value; {@link Long#MAX_VALUE} if no value was added. */
    long min() {
        return min;
    }

    /** The highest value; {@link Long#MIN_VALUE} if no value was added. */
    long max() {
        return max;
    }
}
