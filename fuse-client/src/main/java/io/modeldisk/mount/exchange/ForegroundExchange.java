package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;

/**
 * Exchanges the active set for a request that waits. An interrupted request leaves its exchange in progress, and a later request
 * can wait for it. Not thread-safe: {@link BufferedExchange} calls this class while it holds its turn.
 */
final class ForegroundExchange {
    private final RemoteModel model;
    private final BackgroundExchange background;
    private final BufferSets sets;
    /** True while an exchange that an interrupted request has left may be in progress. */
    private boolean left;
    private boolean leftPushes;

    ForegroundExchange(RemoteModel model, BackgroundExchange background, BufferSets sets) {
        this.model = model;
        this.background = background;
        this.sets = sets;
    }

    /** Pulls the weights into the active set; see {@link #exchange}. */
    void pull(Cancellation cancellation) throws IOException {
        exchange(0, cancellation);
    }

    /**
     * Exchanges the active set and waits until the exchange has ended. If an interrupted request has left an exchange in
     * progress, and the learner has not used the set after the interrupt, waits for that exchange and starts no other exchange.
     *
     * @param iteration the iteration whose gradient is pushed before the weights are pulled; 0 if none is
     */
    void exchange(long iteration, Cancellation cancellation) throws IOException {
        boolean pushes = iteration > 0;
        if (!repeatsInterrupted(pushes)) {
            background.awaitEnd(cancellation);
            BufferSet active = sets.active();
            // A set that replaces one that a closed learner has left to its exchange has no buffers.
            active.allocate(model, false);
            sets.lend(cancellation);
            background.start(pushes
                ? new ExchangeJob(active, iteration, active.version(), null)
                : ExchangeJob.pull(active, null));
            left = true;
            leftPushes = pushes;
        }
        background.awaitEnd(cancellation);
        left = false;
        IOException failure = background.takeFailure();
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Returns whether a request can wait for the exchange of an interrupted request. An fsync does not wait for a pull, which may
     * be that of a read.
     */
    boolean repeatsInterrupted(boolean pushes) {
        return left && leftPushes == pushes && !sets.isTouched();
    }

    /**
     * Checks that an fsync that ends the iteration of a failed one has the same gradient.
     *
     * @throws ErrnoException EBUSY if the gradient is another one
     */
    void checkSameGradient() throws ErrnoException {
        OutgoingGradient gradient = sets.active().outgoing();
        if (background.hasEnded() && !gradient.isBegun() && !gradient.hasEnded()) {
            gradient.forget();
        }
        gradient.checkRepeatable();
        if (gradient.isRemembered() && gradient.hasEnded() && sets.isTouched()) {
            // The shards have this gradient. The process has only written it again.
            sets.alone(set -> set.outgoing().discardWritten());
        }
    }

    /** Remembers the gradient of an fsync that has failed, if the shards may have a part of it. */
    void rememberGradient() {
        OutgoingGradient gradient = sets.active().outgoing();
        if (gradient.isBegun() || left && leftPushes) {
            gradient.remember();
        }
    }

    /** Returns whether an interrupted request has left an exchange, which may be in progress. */
    boolean isLeft() {
        return left;
    }

    /** Forgets the exchange that an interrupted request has left. */
    void forget() {
        left = false;
    }
}
