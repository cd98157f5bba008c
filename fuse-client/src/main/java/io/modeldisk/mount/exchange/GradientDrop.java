package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;

/**
 * Gives up the gradient of an fsync that has failed or was interrupted; see {@link Exchange#drop}. Not thread-safe:
 * {@link BufferedExchange} calls this class while it holds its turn.
 */
record GradientDrop(RemoteModel model, BufferSets sets, BackgroundExchange background, ForegroundExchange foreground) {
    /**
     * Gives up the gradient whose push has begun. What was written after it stays in the active set.
     *
     * @throws ErrnoException EBUSY if the push cannot be stopped within a few seconds
     */
    Dropped giveUpBegun(long iteration, Cancellation cancellation) throws IOException {
        return sets.areTwo() ? giveUpOther(iteration, cancellation) : giveUpActive(iteration, cancellation);
    }

    private Dropped giveUpActive(long iteration, Cancellation cancellation) throws IOException {
        if (foreground.isLeft()) {
            endPush();
        }
        foreground.forget();
        background.takeFailure();
        OutgoingGradient gradient = sets.active().outgoing();
        if (!gradient.isBegun() && !gradient.hasEnded()) {
            return nothing(iteration);
        }
        Dropped dropped = gradient.isBegun()
            ? gradient.giveUp(model, iteration, cancellation)
            : gradient.outcome(iteration);
        // The shards may have changed the weights, so they are pulled before the next read.
        sets.alone(BufferSet::discard);
        return dropped;
    }

    private Dropped giveUpOther(long iteration, Cancellation cancellation) throws IOException {
        OutgoingGradient failed = sets.other().outgoing();
        // An exchange in progress belongs to an fsync that has succeeded, unless it repeats one that has failed.
        if (failed.isRemembered()) {
            endPush();
        }
        if (!background.hasEnded()) {
            return nothing(iteration);
        }
        Dropped dropped;
        if (failed.isBegun()) {
            dropped = failed.giveUp(model, iteration, cancellation);
        } else if (failed.isRemembered() && failed.hasEnded()) {
            dropped = failed.outcome(iteration);
            failed.forget();
        } else {
            dropped = nothing(iteration).and(failed.drop());
        }
        background.takeFailure();
        return dropped;
    }

    private static Dropped nothing(long iteration) {
        return new Dropped(iteration, 0, 0, 0);
    }

    private void endPush() throws ErrnoException {
        if (!background.end(0)) {
            throw new ErrnoException(Errno.EBUSY, "the push of the gradient could not be stopped yet; drop it again");
        }
    }
}
