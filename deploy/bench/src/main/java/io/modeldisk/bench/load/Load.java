package io.modeldisk.bench.load;

/**
 * A fixed number of requests of one size.
 *
 * @param direction the direction of the data
 * @param requestBytes the size of a request
 * @param queueDepth the maximum number of requests in flight, in each direction
 * @param requests the number of requests, in each direction
 * @param gradientBytes the size of the gradient; the gradient has at least one buffer for each request in flight
 */
public record Load(Direction direction, int requestBytes, int queueDepth, long requests, long gradientBytes) {
    /** Creates a load whose gradient has one buffer for each request in flight. */
    public Load(Direction direction, int requestBytes, int queueDepth, long requests) {
        this(direction, requestBytes, queueDepth, requests, 0);
    }

    /** The number of buffers in the gradient. Pushes are sent from one buffer after another, in a cycle. */
    public int pushBuffers() {
        return Math.toIntExact(Math.max(queueDepth, gradientBytes / requestBytes));
    }

    /** The number of moved bytes, which is the sum of both directions. */
    public long bytes() {
        return requests * requestBytes * direction.ways();
    }

    /** Returns the same load with another number of requests. */
    public Load withRequests(long count) {
        return new Load(direction, requestBytes, queueDepth, count, gradientBytes);
    }
}
