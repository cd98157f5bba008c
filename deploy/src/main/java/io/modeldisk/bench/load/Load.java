package io.modeldisk.bench.load;

/**
 * A fixed amount of work.
 *
 * @param direction which way data goes
 * @param requestBytes the size of a request
 * @param queueDepth how many requests are under way at most, each way
 * @param requests how many there are, each way
 */
public record Load(Direction direction, int requestBytes, int queueDepth, long requests) {
    /** How many bytes are moved, both ways together. */
    public long bytes() {
        return requests * requestBytes * direction.ways();
    }

    /** The same with another number of requests. */
    public Load withRequests(long count) {
        return new Load(direction, requestBytes, queueDepth, count);
    }
}
