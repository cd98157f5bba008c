package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;

/**
 * Weights, a gradient, and which of its logical blocks have been written. It belongs to the learner or to an exchange, never to
 * both; who hands it over sees to that. Writing is thread-safe, all else is for its owner alone.
 */
final class BufferSet implements AutoCloseable {
    private final long bytes;
    private final DirtyBlocks dirty;
    private DataMemory weights;
    private DataMemory gradient;
    private volatile boolean unsynchronized;
    private boolean fresh;
    private volatile long pulledAtNs;
    private volatile long version = VersionProbe.UNKNOWN;

    BufferSet(long bytes) {
        this.bytes = bytes;
        this.dirty = new DirtyBlocks(bytes);
    }

    /** Takes what memory it has not yet, of the kind that the way to the shards needs. */
    void allocate(RemoteModel model, boolean withGradient) throws IOException {
        if (weights == null) {
            weights = model.allocate(bytes);
        }
        if (withGradient && gradient == null) {
            gradient = model.allocate(bytes);
        }
    }

    DataMemory weights() {
        return weights;
    }

    DataMemory gradient() {
        return gradient;
    }

    /** Takes a part of the gradient. */
    void write(long offset, int lengthBytes, DataMemory from, long fromOffset) {
        Memories.copy(from, fromOffset, gradient, offset, lengthBytes);
        dirty.mark(offset, lengthBytes);
    }

    /** This part of the gradient has been written in place. */
    void written(long offset, long lengthBytes) {
        dirty.mark(offset, lengthBytes);
    }

    /**
     * Pushes what has been written in this range, and forgets it piece by piece, so that nothing is pushed twice. Several threads
     * may push, each its own range of a multiple of 256 KiB: which blocks are dirty is noted in words of that many.
     *
     * @return how many bytes were pushed
     */
    long push(RemoteModel model, long offset, long end, Cancellation cancellation) throws IOException {
        long pushed = 0;
        long from = dirty.nextDirty(offset);
        while (from >= 0 && from < end) {
            long length = Math.min(dirty.nextClean(from), end) - from;
            model.push(from, gradient, from, length, cancellation);
            unsynchronized = true;
            forget(from, length);
            pushed += length;
            from = dirty.nextDirty(from);
        }
        return pushed;
    }

    /** Waits until what was pushed has been aggregated; answers whether anything was. */
    boolean synchronize(RemoteModel model, Cancellation cancellation) throws IOException {
        boolean pushed = unsynchronized;
        if (pushed) {
            model.synchronize(cancellation);
            unsynchronized = false;
        }
        return pushed;
    }

    /** Drops the gradient; answers how many bytes of it had not been pushed. */
    long drop() {
        long dropped = 0;
        for (long from = dirty.nextDirty(0); from >= 0; from = dirty.nextDirty(from)) {
            long length = dirty.nextClean(from) - from;
            forget(from, length);
            dropped += length;
        }
        unsynchronized = false;
        return dropped;
    }

    boolean isDirty() {
        return dirty.nextDirty(0) >= 0;
    }

    /** The gradient outside dirty blocks is always zero, so that a partly written block can go whole. */
    private void forget(long from, long length) {
        Memories.zero(gradient, from, length);
        dirty.clear(from, length);
    }

    /** A pull into the weights begins: until it has ended they are a mixture. */
    void pullBegins(long nowNs, long versionNow) {
        fresh = false;
        pulledAtNs = nowNs;
        version = versionNow;
    }

    /** The pull has filled all of the weights. */
    void pullEnds() {
        fresh = true;
    }

    /** What is here is not to be used before another pull. */
    void stale() {
        fresh = false;
    }

    /** Whether the weights are of one pull. */
    boolean isFresh() {
        return fresh;
    }

    /** When the pull of the weights began: no weight is older. */
    long pulledAtNs() {
        return pulledAtNs;
    }

    /** What version every block had at least, when it was pulled. */
    long version() {
        return version;
    }

    @Override
    public void close() {
        if (weights != null) {
            weights.close();
            weights = null;
        }
        if (gradient != null) {
            gradient.close();
            gradient = null;
        }
    }
}
