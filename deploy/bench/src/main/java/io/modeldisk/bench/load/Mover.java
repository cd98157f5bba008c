package io.modeldisk.bench.load;

import java.io.IOException;

/** Moves data between a learner and a shard, one load after the other. Not thread-safe. */
@FunctionalInterface
public interface Mover {
    /**
     * Moves a load.
     *
     * @return the nanoseconds from the first request until the last one's data had arrived, as its receiver says
     * @throws IOException if any of it fails, or does not arrive whole
     */
    long move(Load load) throws IOException;
}
