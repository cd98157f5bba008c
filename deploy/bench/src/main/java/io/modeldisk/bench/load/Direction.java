package io.modeldisk.bench.load;

/** Which way data goes, seen from the learner. */
public enum Direction {
    /** Gradients to the shard. */
    PUSH,
    /** Weights from the shard. */
    PULL,
    /** As many of each, at the same time over one connection. */
    BOTH;

    /** Whether gradients go. */
    public boolean pushes() {
        return this != PULL;
    }

    /** Whether weights come. */
    public boolean pulls() {
        return this != PUSH;
    }

    /** How many ways data goes. */
    public int ways() {
        return this == BOTH ? 2 : 1;
    }
}
