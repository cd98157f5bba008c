package io.modeldisk.bench.load;

/** The offsets of requests of one size through a model, again and again. Not thread-safe. */
public final class Walk {
    private final long endBytes;
    private final int requestBytes;
    private long next;

    /**
     * Starts at the beginning or in the middle of the model.
     *
     * @param modelBytes at least one request
     */
    public Walk(long modelBytes, int requestBytes, boolean fromTheMiddle) {
        this.endBytes = modelBytes - modelBytes % requestBytes;
        this.requestBytes = requestBytes;
        this.next = fromTheMiddle ? endBytes / requestBytes / 2 * requestBytes : 0;
    }

    /** The offset of the next request. */
    public long next() {
        long at = next;
        next = at + requestBytes == endBytes ? 0 : at + requestBytes;
        return at;
    }
}
