package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;

/**
 * Exchanges the active set for a request that waits. An interrupted request leaves its exchange in progress, and a later request
 * can wait for it. Not thread-safe: {@link BufferedExchange} calls this class while it holds its turn.
 */
final class ForegroundExchange {
    private final RemoteModel model;
    private final BackgroundExchange background;
    private final ActiveSet inUse;
    /** Whether an interrupted request has left an exchange in progress. */
    private boolean left;
    private boolean leftPushes;

    ForegroundExchange(RemoteModel model, BackgroundExchange background, ActiveSet inUse) {
        this.model = model;
        this.background = background;
        this.inUse = inUse;
    }

    /**
     * Exchanges the active set and waits until the exchange has ended. If an interrupted request has left an exchange in
     * progress, and the learner has not used the set after the interrupt, waits for that exchange and starts no other exchange.
     *
     * @param iteration the iteration whose gradient is pushed before the weights are pulled; 0 if none is
     */
    void run(long iteration, Cancellation cancellation) throws IOException {
        boolean pushes = iteration > 0;
        if (!repeatsInterrupted(pushes)) {
            background.awaitEnd(cancellation);
            BufferSet active = inUse.set();
            // A set that replaces one that a closed learner has left to its exchange has no buffers.
            active.allocate(model, false);
            inUse.lend(cancellation);
            background.start(pushes
                ? ExchangeJob.exchange(active, iteration, active.version())
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
        return left && leftPushes == pushes && !inUse.isTouched();
    }

    /** Returns whether an interrupted request has left a push, which may be in progress. */
    boolean isPushLeft() {
        return left && leftPushes;
    }

    /** Forgets the exchange that an interrupted request has left. */
    void forget() {
        left = false;
    }

    /**
     * Ends the exchange that an interrupted request has left.
     *
     * @throws ErrnoException EBUSY if the exchange does not end within some seconds
     */
    void endLeft() throws ErrnoException {
        if (left && !background.end(0)) {
            throw new ErrnoException(Errno.EBUSY, "the push of the gradient could not be stopped yet; drop it again");
        }
        left = false;
        background.takeFailure();
    }
}
