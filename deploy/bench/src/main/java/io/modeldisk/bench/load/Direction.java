package io.modeldisk.bench.load;

import java.util.Locale;

/** The direction of data, seen from the learner. */
public enum Direction {
    /** Gradients to the shard. */
    PUSH,
    /** Weights from the shard. */
    PULL,
    /** Both at the same time over one connection, as many requests of each. */
    BOTH;

    /** Whether gradients are sent. */
    public boolean pushes() {
        return this != PULL;
    }

    /** Whether weights are received. */
    public boolean pulls() {
        return this != PUSH;
    }

    /** The number of directions: 1 or 2. */
    public int ways() {
        return this == BOTH ? 2 : 1;
    }

    /** The name in reports: {@code push}, {@code pull} or {@code both}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
