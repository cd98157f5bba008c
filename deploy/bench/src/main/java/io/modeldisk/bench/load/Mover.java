package io.modeldisk.bench.load;

import java.io.IOException;

/** Moves data between a learner and a shard, one load after another. Not thread-safe. */
@FunctionalInterface
public interface Mover {
    /**
     * Moves the data of a load.
     *
     * @return the nanoseconds from the start of the first request until the receiver has confirmed the data of the last request
     * @throws IOException if a request fails, or its data is incomplete
     */
    long move(Load load) throws IOException;
}
