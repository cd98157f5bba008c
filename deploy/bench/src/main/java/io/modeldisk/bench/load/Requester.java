package io.modeldisk.bench.load;

import java.io.IOException;
import org.HdrHistogram.Histogram;

/** Sends one request at a time to a shard or to a baseline. Not thread-safe. */
public interface Requester extends AutoCloseable {
    /**
     * Sends one request at a time and records the latency of each request in nanoseconds. The response to a pull is its data. The
     * response to a push confirms that the data was received.
     *
     * @param direction push or pull
     * @throws IOException if a request fails, or its data is incomplete
     */
    void pingPong(Direction direction, int requestBytes, long requests, Histogram nanoseconds) throws IOException;

    @Override
    void close();
}
