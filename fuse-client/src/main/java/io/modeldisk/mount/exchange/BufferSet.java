package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Buffers for weights and for an {@link OutgoingGradient}.
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
 * <p>FRESH weights are from the last pull. OLD weights are complete, but from an earlier pull, for example because the last push
 * failed. In the state NONE, the weights are empty or a mixture of two pulls. Only the owner of the set is allowed to call its
 * methods.
 */
final class BufferSet implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(BufferSet.class);

    /** The states of the weights. */
    enum Weights {
        NONE, OLD, FRESH
    }

    private final int number;
    private final long bytes;
    private final ExchangeSettings.Buffers buffers;
    private final OutgoingGradient outgoing;
    private volatile DataMemory weights;
    private volatile DataMemory gradient;
    private volatile boolean lent;
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
        this.outgoing = new OutgoingGradient(this, bytes);
    }

    /** Returns the number of the set in its exchange. */
    int number() {
        return number;
    }

    /** Allocates the buffers that do not exist yet, in memory that the datamover can use. */
    void allocate(RemoteModel model, boolean withGradient) throws IOException {
        if (weights == null) {
            weights = buffers.allocate("weights-" + number, model);
        }
        if (withGradient && gradient == null) {
            gradient = buffers.allocate("gradient-" + number, model);
        }
    }

    /**
     * Sets whether the learner replaces the whole gradient in each iteration. If so, no byte of an earlier gradient remains in
     * the buffer.
     */
    void wholeGradients(boolean now) {
        if ((whole || shown) && !now) {
            outgoing.isOld();
        }
        whole = now;
    }

    DataMemory weights() {
        return weights;
    }

    DataMemory gradient() {
        return gradient;
    }

    /** Returns a buffer that other processes can map. From now on, they can write to the gradient at any time. */
    DataMemory show(boolean ofGradient) {
        if (ofGradient) {
            shown = true;
        }
        used = true;
        return ofGradient ? gradient : weights;
    }

    /** Lends the set to an exchange. Must be called only when no read or write is in progress. */
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
     * Requests that the memory is freed when the exchange gives the set back, unless other processes use a buffer.
     *
     * @return false if the set is no longer lent and thus not abandoned
     */
    synchronized boolean abandon() {
        abandoned = lent;
        return lent;
    }

    /** Returns whether the set is lent to an exchange. */
    boolean isLent() {
        return lent;
    }

    /** Returns whether the weights can be read: they are from a single pull, and no exchange is changing them. */
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

    /** Returns the gradient in the buffer. */
    OutgoingGradient outgoing() {
        return outgoing;
    }

    /** Returns whether the learner replaces the whole gradient in each iteration. */
    boolean isWhole() {
        return whole;
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

    /** Copies the weights of another set, with the time of their pull and their version. */
    void copyWeights(BufferSet from) {
        pullBegins(from.pulledAtNs, from.version);
        Memories.copy(from.weights, 0, weights, 0, bytes);
        pullEnds();
    }

    /** Marks the weights as unusable until the next pull. */
    void discard() {
        become(Weights.NONE);
    }

    /**
     * Returns the state of the set for another process, without the bytes of its buffers. In the other process, the set is not
     * lent.
     */
    ExchangeImage.Set image() {
        return new ExchangeImage.Set(weights != null, gradient != null, whole, shown, state, version, outgoing.image());
    }

    /** Takes over the state of a set, with the buffers of the previous process. */
    void resume(ExchangeImage.Set image, RemoteModel model, long nowNs) throws IOException {
        if (image.weights()) {
            allocate(model, image.gradient());
        }
        whole = image.whole();
        shown = image.shown();
        // Other processes might have mapped a buffer before this process took over.
        used = true;
        state = image.state();
        version = image.version();
        pulledAtNs = nowNs;
        outgoing.resume(image.outgoing());
    }

    /** Discards the gradient. If the learner maps the buffer, also sets all its bytes to zero. */
    void clearGradient() {
        outgoing.drop();
        if (gradient != null && whole) {
            Memories.zero(gradient, 0, bytes);
        }
        outgoing.isOld();
    }

    /** Returns the time when the pull of the weights began, or 0 before the first pull. */
    long pulledAtNs() {
        return pulledAtNs;
    }

    /** Returns the lowest version among all blocks at the time of the pull, or {@link VersionProbe#UNKNOWN}. */
    long version() {
        return version;
    }

    /** Returns the version and the age of the weights. */
    WeightsInUse inUse(long nowNs) {
        long sinceNs = pulledAtNs;
        return new WeightsInUse(version,
            sinceNs == 0 ? 0 : (nowNs - sinceNs) / (double) TimeUnit.MILLISECONDS.toNanos(1));
    }

    /** Frees the memory unless an exchange still uses the set. */
    void closeUnlessLent() {
        if (lent) {
            LOG.error("the last exchange has not ended, so the memory of its buffers is not freed");
        } else {
            close();
        }
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
