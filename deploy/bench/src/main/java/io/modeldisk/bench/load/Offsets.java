package io.modeldisk.bench.load;

/**
 * Returns the offsets of requests of one size in a model. The offsets ascend, and start again at 0 after the end of the model.
 * Not thread-safe.
 */
public final class Offsets {
    private final long endBytes;
    private final int requestBytes;
    private long next;

    /**
     * Creates offsets that start at the beginning or in the middle of the model.
     *
     * @param modelBytes the size of the model, at least that of one request
     */
    public Offsets(long modelBytes, int requestBytes, boolean fromTheMiddle) {
        this.endBytes = modelBytes - modelBytes % requestBytes;
        this.requestBytes = requestBytes;
        this.next = fromTheMiddle ? endBytes / requestBytes / 2 * requestBytes : 0;
    }

    /** Returns the offset of the next request. */
    public long next() {
        long at = next;
        next = at + requestBytes == endBytes ? 0 : at + requestBytes;
        return at;
    }
}
