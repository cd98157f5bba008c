package io.modeldisk.bench.shard;

import java.util.Locale;

/** The durability of a shard that a benchmark starts: the values of {@code serve --durability}. */
public enum Durability {
    /** Nothing. */
    MEMORY,
    /** The newest checkpoint. */
    CHECKPOINT,
    /** All acknowledged pushes, on disk. */
    JOURNAL,
    /** All acknowledged pushes, in a second process. */
    REPLICA;

    /** Returns the label of a measurement with this durability: the name alone if the shards keep nothing. */
    public String label(String name) {
        return this == MEMORY ? name : name + ", " + this;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
