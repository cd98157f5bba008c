package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Discards gradients in two cases: the learner drops a gradient after an fsync that failed or was interrupted ({@link
 * Exchange#drop}), or a shard has gone back to earlier weights or has forgotten the learner ({@link OnRollback}). Not
 * thread-safe: {@link BufferedExchange} calls this class while it holds its lock {@code turn}.
 */
record DiscardedGradients(RemoteModel model, OnRollback onRollback, ExchangeCounters counters, BufferSets sets,
    BackgroundExchange background, ForegroundExchange foreground, LearnerState learner) {
    private static final Logger LOG = LogManager.getLogger(DiscardedGradients.class);

    /**
     * Gives up the gradient whose push has begun. A gradient that was written afterwards stays in the active set.
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
        // The shards might have changed the weights, so the local weights are discarded, and the next read pulls again.
        sets.alone(BufferSet::discard);
        return dropped;
    }

    private Dropped giveUpOther(long iteration, Cancellation cancellation) throws IOException {
        OutgoingGradient failed = sets.other().outgoing();
        // An exchange in progress belongs to an fsync that has succeeded, unless it repeats a failed exchange.
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
            throw new ErrnoException(Errno.EBUSY,
                "the push of the gradient could not be stopped yet; drop the gradient again");
        }
    }

    /** Pulls the weights into the active set. If a shard has gone back or has forgotten the learner, pulls again. */
    void pullWeights(Cancellation cancellation) throws IOException {
        try {
            foreground.pull(cancellation);
        } catch (IOException e) {
            if (!OnRollback.isReason(e)) {
                throw e;
            }
            learner.rollback = e;
            counters.wentOn(e, model.goOn());
            foreground.pull(cancellation);
        }
    }

    /**
     * Handles the failure of an fsync or a drop: if {@link OnRollback#isReason} accepts the failure, discards the gradients and
     * starts to pull the weights. If this method returns normally, the call of the learner succeeds.
     *
     * @throws IOException {@code reason}, if {@link OnRollback#isReason} does not accept it or {@link OnRollback#FAIL} is set; if
     *     the learner maps the weights and the pull fails, the failure of the pull
     */
    void startOver(IOException reason, IterationTimes times, Cancellation cancellation) throws IOException {
        if (!OnRollback.isReason(reason)) {
            throw reason;
        }
        background.awaitEnd(Cancellation.NONE);
        if (learner.rollback == null) {
            counters.wentOn(reason, model.goOn());
        }
        // This field keeps the reason until a call has reported it. An interrupted call ends with EINTR, and the repeated call
        // then reports the reason.
        learner.rollback = reason;
        learner.weightsMissed = false;
        foreground.forget();
        long droppedBytes = sets.dropAndLend();
        LOG.warn("{}; {} bytes of the gradient of iteration {} are discarded,"
            + " and the learner continues from the weights of the shards",
            reason.getMessage(), droppedBytes, learner.iteration);
        background.start(ExchangeJob.pull(sets.active(), sets.other()));
        learner.round = model.nextRound();
        learner.unfinished = false;
        if (learner.mapped) {
            awaitWeights(cancellation);
        }
        times.computationBegins(learner.learning);
        if (onRollback == OnRollback.FAIL) {
            cancellation.check();
        }
        learner.rollback = null;
        if (onRollback == OnRollback.FAIL) {
            throw reason;
        }
    }

    /** Waits until the weights are pulled. A learner reads mapped weights without a request, so a later read cannot wait. */
    private void awaitWeights(Cancellation cancellation) throws IOException {
        background.awaitEnd(cancellation);
        IOException failure = background.takeFailure();
        if (failure != null) {
            cancellation.check();
            learner.rollback = null;
            throw failure;
        }
    }
}
