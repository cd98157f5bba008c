package io.modeldisk.bench.load;

import java.io.IOException;
import org.HdrHistogram.Histogram;

/** Makes one request at a time of a shard, or of what stands beside it. Not thread-safe. */
public interface Requester extends AutoCloseable {
    /**
     * Moves one request at a time, and records the nanoseconds from its start to its answer. A pull's answer is its data; a
     * push's says that the data has been taken.
     *
     * @param direction push or pull
     * @throws IOException if any of it fails, or does not arrive whole
     */
    void pingPong(Direction direction, int requestBytes, long requests, Histogram nanoseconds) throws IOException;

    @Override
    void close();
}
