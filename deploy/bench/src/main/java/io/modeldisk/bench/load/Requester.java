package io.modeldisk.bench.load;

import java.io.IOException;
import org.HdrHistogram.Histogram;

/** Sends one request at a time to a shard or to a baseline. Not thread-safe. */
public interface Requester extends AutoCloseable {
    /**
     * Sends one request at a time and records the latency of each request in nanoseconds. A pull completes when its data has been
     * received. A push completes when the receiver has confirmed the data.
     *
     * @param direction push or pull
     * @throws IOException if a request fails, or its data is incomplete
     */
    void pingPong(Direction direction, int requestBytes, long requests, Histogram nanoseconds) throws IOException;

    @Override
    void close();
}
