package io.modeldisk.bench.load;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
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

    /** Sends one request at a time, and measures it. */
    default Measured measure(Direction direction, int requestBytes, long requests) throws IOException {
        Histogram nanoseconds = latencies();
        long begun = System.nanoTime();
        pingPong(direction, requestBytes, requests, nanoseconds);
        return Measured.of(nanoseconds, System.nanoTime() - begun);
    }

    /** Returns an empty histogram for latencies up to two minutes, in nanoseconds. */
    static Histogram latencies() {
        return new Histogram(TimeUnit.MINUTES.toNanos(2), 3);
    }

    @Override
    void close();
}
