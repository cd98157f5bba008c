package io.modeldisk.bench.load;

import java.util.Locale;

/** The direction in which data is moved, seen from the learner. */
public enum Direction {
    /** The learner sends gradients to the shard. */
    PUSH,
    /** The learner receives weights from the shard. */
    PULL,
    /** The learner pushes and pulls at the same time over one connection, with the same number of requests in each direction. */
    BOTH;

    /** True if the learner sends gradients. */
    public boolean pushes() {
        return this != PULL;
    }

    /** True if the learner receives weights. */
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
