package io.modeldisk.server;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** The least, the greatest and the sum of some values. */
final class Extent {
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

    ObjectNode put(ObjectNode node) {
        return node.put("min", min).put("max", max);
    }
}
