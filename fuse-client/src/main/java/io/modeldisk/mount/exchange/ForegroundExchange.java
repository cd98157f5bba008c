package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;

/**
 * Exchanges the active set while the request that needs the exchange waits. If the request is interrupted, its exchange
 * continues, and a later request can wait for this exchange. Not thread-safe: {@link BufferedExchange} calls this class while it
 * holds its lock {@code turn}.
 */
final class ForegroundExchange {
    private final RemoteModel model;
    private final BackgroundExchange background;
    private final BufferSets sets;
    /** True while the exchange of an interrupted request might still be in progress. */
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
     * Exchanges the active set and waits until the exchange has ended. If the exchange of an interrupted request might still be
     * in progress, and the learner has not used the set after the interrupt, waits for that exchange and starts no other
     * exchange.
     *
     * @param iteration the iteration whose gradient is pushed before the weights are pulled; 0 if no gradient is pushed
     */
    void exchange(long iteration, Cancellation cancellation) throws IOException {
        boolean pushes = iteration > 0;
        if (!repeatsInterrupted(pushes)) {
            background.awaitEnd(cancellation);
            BufferSet active = sets.active();
            // The set has no buffers yet if BufferSets.replaceLent has created it after a learner left during an exchange.
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
     * Returns whether a request can wait for the exchange of an interrupted request. An fsync does not wait for a pull without a
     * push, because that pull can belong to a read.
     */
    boolean repeatsInterrupted(boolean pushes) {
        return left && leftPushes == pushes && !sets.isTouched();
    }

    /**
     * Checks that an fsync which repeats a failed fsync pushes the same gradient.
     *
     * @throws ErrnoException EBUSY if the gradient has changed
     */
    void checkSameGradient() throws ErrnoException {
        OutgoingGradient gradient = sets.active().outgoing();
        if (background.hasEnded() && !gradient.isBegun() && !gradient.hasEnded()) {
            gradient.forget();
        }
        gradient.checkRepeatable();
        if (gradient.isRemembered() && gradient.hasEnded() && sets.isTouched()) {
            // The shards have already received this gradient. The process has only written the same bytes again.
            sets.alone(set -> set.outgoing().discardWritten());
        }
    }

    /** Stores a fingerprint of the gradient after a failed fsync, if the shards might have received a part of the gradient. */
    void rememberGradient() {
        OutgoingGradient gradient = sets.active().outgoing();
        if (gradient.isBegun() || left && leftPushes) {
            gradient.remember();
        }
    }

    /** Returns whether the exchange of an interrupted request might still be in progress. */
    boolean isLeft() {
        return left;
    }

    /** Makes later requests start their own exchange instead of waiting for the exchange of an interrupted request. */
    void forget() {
        left = false;
    }
}
