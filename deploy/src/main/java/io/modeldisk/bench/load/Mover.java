package io.modeldisk.bench.load;

import java.io.IOException;
import org.HdrHistogram.Histogram;

/** Moves data between a learner and a shard, one load after the other. Not thread-safe. */
public interface Mover extends AutoCloseable {
    /**
     * Moves a load.
     *
     * @return the nanoseconds from the first request until the last one's data had arrived, as its receiver says
     * @throws IOException if any of it fails, or does not arrive whole
     */
    long move(Load load) throws IOException;

    /**
     * Moves one request at a time, and records the nanoseconds from its start to its answer. A pull's answer is its data; a
     * push's says that the data has been taken.
     *
     * @param direction push or pull
     */
    void pingPong(Direction direction, int requestBytes, long requests, Histogram nanoseconds) throws IOException;

    @Override
    void close();
}
