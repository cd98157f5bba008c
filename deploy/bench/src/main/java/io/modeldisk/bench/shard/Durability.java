package io.modeldisk.bench.shard;

import java.util.Locale;

/** The durability of a shard that a benchmark starts: the values of {@code serve --durability}. */
public enum Durability {
    /** No data survives the end of a shard. */
    MEMORY,
    /** The newest checkpoint survives the end of a shard. */
    CHECKPOINT,
    /** All acknowledged pushes survive the end of a shard, on disk. */
    JOURNAL,
    /** All acknowledged pushes survive the end of a shard, in a second process. */
    REPLICA;

    /** Returns the label of a measurement with this durability. With {@link #MEMORY}, the label is the name alone. */
    public String label(String name) {
        return this == MEMORY ? name : name + ", " + this;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
