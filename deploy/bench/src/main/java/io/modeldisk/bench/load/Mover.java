package io.modeldisk.bench.load;

import java.io.IOException;

/** Moves data between a learner and a shard, one load after another. Not thread-safe. */
@FunctionalInterface
public interface Mover {
    /**
     * Moves a load.
     *
     * @return the nanoseconds from the first request until its receiver confirms the data of the last one
     * @throws IOException if a request fails, or its data is incomplete
     */
    long move(Load load) throws IOException;
}
