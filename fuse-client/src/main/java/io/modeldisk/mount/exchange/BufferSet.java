package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;

/**
 * Weights, a gradient, and which logical blocks of the gradient have been written.
 *
 * <p>The set belongs to the learner, or is lent to an exchange. What its weights are:
 *
 * <pre>
 *         pullBegins             pullEnds
 *   OLD ─────────────> NONE ────────────────> FRESH
 *    ^                  ^                       │
 *    │                  └────── discard ────────┤
 *    └────────────────────────── lend ──────────┘
 * </pre>
 *
 * <p>NONE is a mixture of two pulls, or nothing. An exchange whose push fails leaves them OLD: whole, but of the pull before.
 * {@link #write} and {@link #written} are thread-safe, the rest is for the owner.
 */
final class BufferSet implements AutoCloseable {
    private enum Weights {
        NONE, OLD, FRESH
    }

    private final long bytes;
    private final DirtyBlocks dirty;
    private DataMemory weights;
    private DataMemory gradient;
    private volatile boolean lent;
    private volatile boolean unsynchronized;
    private volatile Weights state = Weights.NONE;
    private volatile long pulledAtNs;
    private volatile long version = VersionProbe.UNKNOWN;

    BufferSet(long bytes) {
        this.bytes = bytes;
        this.dirty = new DirtyBlocks(bytes);
    }

    /** Allocates the memory that is missing, of the kind that the datamover needs. */
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

    /** Lends the set to an exchange. No read or write may be under way. */
    void lend() {
        if (lent) {
            throw new IllegalStateException("the buffer set belongs to an exchange already");
        }
        become(state == Weights.FRESH ? Weights.OLD : state);
        lent = true;
    }

    /** The exchange has ended; does nothing if the set is not lent. */
    void giveBack() {
        lent = false;
    }

    /** Whether the set belongs to an exchange. */
    boolean isLent() {
        return lent;
    }

    /** Whether the weights may be read: they are of one pull, and no exchange changes them. */
    boolean isReadable() {
        return !lent && state != Weights.NONE;
    }

    /** Whether the weights were pulled since the set was lent last. */
    boolean isFresh() {
        return state == Weights.FRESH;
    }

    private void become(Weights next) {
        boolean allowed = switch (next) {
            case NONE -> true;
            case OLD -> state != Weights.NONE;
            case FRESH -> state == Weights.NONE;
        };
        if (!allowed) {
            throw new IllegalStateException("weights that are " + state + " cannot become " + next);
        }
        state = next;
    }

    /** Takes a part of the gradient. */
    void write(long offset, int lengthBytes, DataMemory from, long fromOffset) {
        Memories.copy(from, fromOffset, gradient, offset, lengthBytes);
        dirty.mark(offset, lengthBytes);
    }

    /** A part of the gradient was written in place. */
    void written(long offset, long lengthBytes) {
        dirty.mark(offset, lengthBytes);
    }

    /** Whether any of the gradient was written and not pushed. */
    boolean isDirty() {
        return dirty.nextDirty(0) >= 0;
    }

    /**
     * Pushes the dirty blocks of a range and clears each piece that the shards have, so that nothing is pushed twice. Several
     * threads may push ranges of multiples of 256 KiB: {@link DirtyBlocks} keeps that many in one word.
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
            clear(from, length);
            pushed += length;
            from = dirty.nextDirty(from);
        }
        return pushed;
    }

    /** Waits until everything that was pushed has been aggregated. */
    void synchronize(RemoteModel model, Cancellation cancellation) throws IOException {
        if (unsynchronized) {
            model.synchronize(cancellation);
            unsynchronized = false;
        }
    }

    /** Drops the gradient; answers how many bytes of it had not been pushed. */
    long drop() {
        long dropped = 0;
        for (long from = dirty.nextDirty(0); from >= 0; from = dirty.nextDirty(from)) {
            long length = dirty.nextClean(from) - from;
            clear(from, length);
            dropped += length;
        }
        unsynchronized = false;
        return dropped;
    }

    /** The gradient outside dirty blocks is always zero, so that a partly written block can be pushed as a whole. */
    private void clear(long from, long length) {
        Memories.zero(gradient, from, length);
        dirty.clear(from, length);
    }

    /** A pull into the weights begins. */
    void pullBegins(long nowNs, long versionNow) {
        become(Weights.NONE);
        pulledAtNs = nowNs;
        version = versionNow;
    }

    /** The pull has filled the weights. */
    void pullEnds() {
        become(Weights.FRESH);
    }

    /** Copies the weights of another set, which were pulled just before. */
    void copyWeights(BufferSet from) {
        pullBegins(from.pulledAtNs, from.version);
        Memories.copy(from.weights, 0, weights, 0, bytes);
        pullEnds();
    }

    /** The weights must be pulled again before they are used. */
    void discard() {
        become(Weights.NONE);
    }

    /** When the pull of the weights began: no weight is older. 0 before the first pull. */
    long pulledAtNs() {
        return pulledAtNs;
    }

    /** The version that every block had at least when it was pulled, or {@link VersionProbe#UNKNOWN}. */
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
