package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Buffers for weights and for a gradient, with marks for the logical blocks of the gradient that were written.
 *
 * <p>The set belongs to the learner, or is lent to an exchange. The states of its weights:
 *
 * <pre>
 *         pullBegins             pullEnds
 *   OLD ─────────────> NONE ────────────────> FRESH
 *    ^                  ^                       │
 *    │                  └────── discard ────────┤
 *    └────────────────────────── lend ──────────┘
 * </pre>
 *
 * <p>FRESH weights are from the last pull. OLD weights are complete, but from an earlier pull, for example after a failed push.
 * In the state NONE, the weights are empty or a mixture of two pulls. {@link #write} and {@link #written} are thread-safe. Only
 * the owner of the set may call the other methods.
 */
final class BufferSet implements AutoCloseable {
    private enum Weights {
        NONE, OLD, FRESH
    }

    private final int number;
    private final long bytes;
    private final ExchangeSettings.Buffers buffers;
    private final DirtyBlocks dirty;
    private volatile DataMemory weights;
    private volatile DataMemory gradient;
    private volatile boolean lent;
    private volatile boolean unsynchronized;
    private volatile boolean whole;
    private volatile boolean shown;
    private volatile boolean used;
    private boolean abandoned;
    private volatile Weights state = Weights.NONE;
    private volatile long pulledAtNs;
    private volatile long version = VersionProbe.UNKNOWN;

    /**
     * Creates a set without buffers.
     *
     * @param number the number of the set in its exchange, from 0
     * @param bytes the size of each buffer, a multiple of the logical block
     * @param buffers provides the buffers
     */
    BufferSet(int number, long bytes, ExchangeSettings.Buffers buffers) {
        this.buffers = buffers;
        this.number = number;
        this.bytes = bytes;
        this.dirty = new DirtyBlocks(bytes);
    }

    /** Returns the number of the set in its exchange. */
    int number() {
        return number;
    }

    /** Allocates the missing buffers, in memory that the datamover can use. */
    void allocate(RemoteModel model, boolean withGradient) throws IOException {
        if (weights == null) {
            weights = buffers.allocate("weights-" + number, model);
        }
        if (withGradient && gradient == null) {
            gradient = buffers.allocate("gradient-" + number, model);
        }
    }

    /**
     * Sets whether the learner replaces the whole gradient in each iteration. If so, a push leaves the gradient as it is, because
     * no byte of it belongs to two iterations.
     */
    void wholeGradients(boolean now) {
        if ((whole || shown) && !now && gradient != null) {
            Memories.zero(gradient, 0, bytes);
        }
        whole = now;
    }

    DataMemory weights() {
        return weights;
    }

    DataMemory gradient() {
        return gradient;
    }

    /** Records that other processes use a buffer. They can write to the gradient at any time. */
    void show(boolean ofGradient) {
        if (ofGradient) {
            shown = true;
        }
        used = true;
    }

    /** Lends the set to an exchange. May be called only when no read or write is in progress. */
    void lend() {
        if (lent) {
            throw new IllegalStateException("the buffer set already belongs to an exchange");
        }
        become(state == Weights.FRESH ? Weights.OLD : state);
        lent = true;
    }

    /** Gives the set back to the learner, or frees its memory if it was abandoned. Does nothing if the set is not lent. */
    synchronized void giveBack() {
        lent = false;
        if (abandoned && !used) {
            close();
        }
    }

    /**
     * Lets the exchange free the memory when it gives the set back, unless other processes use a buffer.
     *
     * @return false if the set is not lent any more, so that it is not abandoned
     */
    synchronized boolean abandon() {
        abandoned = lent;
        return lent;
    }

    /** Returns whether the set is lent to an exchange. */
    boolean isLent() {
        return lent;
    }

    /** Returns whether the weights may be read: they are from one pull, and no exchange changes them. */
    boolean isReadable() {
        return !lent && state != Weights.NONE;
    }

    /** Returns whether the weights were pulled after the set was last lent. */
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
            throw new IllegalStateException("weights in state " + state + " cannot change to state " + next);
        }
        state = next;
    }

    /** Copies a range of the gradient into the buffer and marks its blocks as written. */
    void write(long offset, int lengthBytes, DataMemory from, long fromOffset) {
        Memories.copy(from, fromOffset, gradient, offset, lengthBytes);
        dirty.mark(offset, lengthBytes);
    }

    /** Marks the blocks of a range that the learner has written directly into the gradient buffer. */
    void written(long offset, long lengthBytes) {
        dirty.mark(offset, lengthBytes);
    }

    /** Returns whether a block of the gradient was written and not yet pushed. */
    boolean isDirty() {
        return dirty.nextDirty(0) >= 0;
    }

    /**
     * Pushes the dirty blocks of a range. Clears the marks of each pushed part, so that no part is pushed twice, and sets it to
     * zero unless the learner replaces {@linkplain #wholeGradients whole gradients}. Several threads may push different ranges at
     * the same time. These ranges must start at multiples of 256 KiB, because {@link DirtyBlocks} has one word of marks for each
     * 256 KiB.
     *
     * @return the number of bytes that were pushed
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

    /** Waits until the shards have aggregated all pushed blocks. */
    void synchronize(RemoteModel model, Cancellation cancellation) throws IOException {
        if (unsynchronized) {
            model.synchronize(cancellation);
            unsynchronized = false;
        }
    }

    /** Discards the gradient. Returns the number of bytes that were written and not pushed. */
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

    /**
     * Sets a range of the gradient to zero and clears its marks. A push sends whole blocks, so bytes that the learner does not
     * write in the next iteration must be zero. See also {@link #wholeGradients}.
     */
    private void clear(long from, long length) {
        if (!whole) {
            Memories.zero(gradient, from, length);
        }
        dirty.clear(from, length);
    }

    /** Records that a pull of the weights begins. */
    void pullBegins(long nowNs, long versionNow) {
        become(Weights.NONE);
        pulledAtNs = nowNs;
        version = versionNow;
    }

    /** Records that the pull has completed. */
    void pullEnds() {
        become(Weights.FRESH);
    }

    /** Copies the weights of another set, with their time and version. */
    void copyWeights(BufferSet from) {
        pullBegins(from.pulledAtNs, from.version);
        Memories.copy(from.weights, 0, weights, 0, bytes);
        pullEnds();
    }

    /** Marks the weights as unusable until the next pull. */
    void discard() {
        become(Weights.NONE);
    }

    /** The number of bytes that {@link #save} writes. */
    long imageBytes() {
        return 6 + Long.BYTES + dirty.imageBytes();
    }

    /** Saves the state of the set, without its buffers. For the process that restores the set, it is not lent. */
    void save(ByteBuffer to) {
        to.put(flag(weights != null)).put(flag(gradient != null)).put(flag(unsynchronized)).put(flag(whole))
            .put(flag(shown)).put((byte) state.ordinal()).putLong(version);
        dirty.save(to);
    }

    /** Restores the state of a set, with the buffers of the process before. */
    void restore(ByteBuffer from, RemoteModel model, long nowNs) throws IOException {
        boolean hasWeights = from.get() != 0;
        boolean hasGradient = from.get() != 0;
        if (hasWeights) {
            allocate(model, hasGradient);
        }
        unsynchronized = from.get() != 0;
        whole = from.get() != 0;
        shown = from.get() != 0;
        // Processes that use a buffer may have begun before.
        used = true;
        state = Weights.values()[from.get()];
        version = from.getLong();
        pulledAtNs = nowNs;
        dirty.restore(from);
    }

    private static byte flag(boolean value) {
        return (byte) (value ? 1 : 0);
    }

    /** Sets the whole gradient to zero, and clears all marks. */
    void clearGradient() {
        if (gradient != null) {
            clear(0, bytes);
            if (whole) {
                Memories.zero(gradient, 0, bytes);
            }
        }
    }

    /** Returns the time when the pull of the weights began, or 0 before the first pull. */
    long pulledAtNs() {
        return pulledAtNs;
    }

    /** Returns the lowest version among all blocks at the time of the pull, or {@link VersionProbe#UNKNOWN}. */
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
