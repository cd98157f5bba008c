package io.modeldisk.bench.load;

import io.modeldisk.platform.units.ByteSize;

/**
 * A fixed amount of work.
 *
 * @param direction which way data goes
 * @param requestBytes the size of a request
 * @param queueDepth how many requests are under way at most, each way
 * @param requests how many there are, each way
 * @param gradientBytes how much memory pushes come from, in turn; if it is less, as many buffers as the queue is deep
 */
public record Load(Direction direction, int requestBytes, int queueDepth, long requests, long gradientBytes) {
    /** Pushes come from as many buffers as the queue is deep. */
    public Load(Direction direction, int requestBytes, int queueDepth, long requests) {
        this(direction, requestBytes, queueDepth, requests, 0);
    }

    /** How many buffers pushes come from. */
    public int pushBuffers() {
        return Math.toIntExact(Math.max(queueDepth, gradientBytes / requestBytes));
    }

    /** How many bytes are moved, both ways together. */
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
