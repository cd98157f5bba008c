package io.modeldisk.bench.load;

import io.modeldisk.platform.units.ByteSize;

/**
 * A fixed number of requests.
 *
 * @param direction the direction of the data
 * @param requestBytes the size of a request
 * @param queueDepth the maximum number of requests in flight, each direction
 * @param requests the number of requests, each direction
 * @param gradientBytes the memory that pushes are sent from in turn; at least one buffer for each request in flight
 */
public record Load(Direction direction, int requestBytes, int queueDepth, long requests, long gradientBytes) {
    /** A load whose pushes are sent from one buffer for each request in flight. */
    public Load(Direction direction, int requestBytes, int queueDepth, long requests) {
        this(direction, requestBytes, queueDepth, requests, 0);
    }

    /** The number of buffers that pushes are sent from. */
    public int pushBuffers() {
        return Math.toIntExact(Math.max(queueDepth, gradientBytes / requestBytes));
    }

    /** The number of bytes moved, sum of both directions. */
    public long bytes() {
        return requests * requestBytes * direction.ways();
    }

    /** A short description for progress and errors. */
    public String describe(String aggregator) {
        return "%s: %s of %s, queue depth %d".formatted(aggregator, direction.label(), ByteSize.exact(requestBytes),
            queueDepth);
    }

    /** The same with another number of requests. */
    public Load withRequests(long count) {
        return new Load(direction, requestBytes, queueDepth, count, gradientBytes);
    }
}
