package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Continues after a shard has gone back to earlier weights, or has forgotten the learner; see {@link OnRollback}. Not
 * thread-safe: {@link BufferedExchange} calls this class while it holds its turn.
 */
record Rollback(RemoteModel model, OnRollback onRollback, ExchangeCounters counters, BufferSets sets,
    BackgroundExchange background, ForegroundExchange foreground, LearnerState learner) {
    private static final Logger LOG = LogManager.getLogger(Rollback.class);

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
     * Ends an fsync or a drop that has failed for a reason of {@link OnRollback}: discards the gradients, and starts to pull the
     * weights. For the learner, the call has succeeded unless this method throws.
     *
     * @throws IOException {@code reason}, if another reason has let the call fail, or if the learner is to be told; the failure
     *     of the pull, if a learner that maps the weights would not have them
     */
    void startOver(IOException reason, IterationTimes times, Cancellation cancellation) throws IOException {
        if (!OnRollback.isReason(reason)) {
            throw reason;
        }
        background.awaitEnd(Cancellation.NONE);
        if (learner.rollback == null) {
            counters.wentOn(reason, model.goOn());
        }
        // Until the learner knows it: an interrupted call ends with EINTR, so its repetition comes here again.
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

    /** Waits for the weights now, because a learner that maps them cannot wait for them when it reads them. */
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
