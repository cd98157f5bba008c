package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.text.PlainText;
import java.io.IOException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * With two sets, the exchange of the inactive set, which the previous fsync (number <i>n</i>) has started. If this exchange
 * fails, fsync <i>n</i> + 1 reports the failure and does not swap the sets. Fsync <i>n</i> + 2 pushes the rest of the gradient,
 * pulls again, and waits until this repeated exchange has ended. Not thread-safe: {@link BufferedExchange} calls this class while
 * it holds its lock {@code turn}.
 */
record PreviousExchange(BufferSets sets, BackgroundExchange background) {
    private static final Logger LOG = LogManager.getLogger(PreviousExchange.class);

    private OutgoingGradient gradient() {
        return sets.other().outgoing();
    }

    /**
     * Waits until the exchange has ended. If the exchange has failed, throws an exception, and the next call of this method
     * repeats the exchange.
     *
     * @param iteration the iteration that the learner ends now
     */
    void await(long iteration, Cancellation cancellation) throws IOException {
        background.awaitEnd(cancellation);
        throwFailure();
        if (!sets.other().isFresh() || gradient().isDirty()) {
            gradient().checkRepeatable();
            start(iteration);
            background.awaitEnd(cancellation);
            throwFailure();
        }
        gradient().forget();
    }

    private void start(long iteration) {
        sets.other().lend();
        background.start(new ExchangeJob(sets.other(), Math.max(1, iteration - 1), VersionProbe.UNKNOWN, null));
    }

    /**
     * Repeats an exchange that the previous process of the mount did not complete, unless its gradient was given up.
     */
    void resume(long iteration) {
        if (!gradient().isGivenUp() && (!sets.other().isFresh() || gradient().isDirty())) {
            start(iteration);
        }
    }

    private void throwFailure() throws IOException {
        IOException failure = background.takeFailure();
        if (failure instanceof NonFiniteGradientException) {
            gradient().drop();
        }
        if (failure instanceof NonFiniteGradientException || failure != null && OnRollback.isReason(failure)) {
            throw failure;
        }
        if (failure != null) {
            gradient().remember();
            throw new IOException("the exchange of the previous iteration failed: " + failure.getMessage()
                + "; the next fsync repeats the exchange", failure);
        }
    }

    /**
     * Checks, for a close(2), that the push of the gradient has not failed. The closed descriptor might belong to a child process
     * that ignores the error, so the next fsync reports the failure again.
     */
    void checkPushed(OnRollback onRollback) throws IOException {
        IOException failure = background.failure();
        if (failure instanceof NonFiniteGradientException && gradient().isDirty()) {
            throw failure;
        }
        boolean ignored = failure == null || onRollback == OnRollback.CONTINUE && OnRollback.isReason(failure);
        if (!ignored && gradient().hasUnpushed()) {
            throw new IOException(
                "the shards have not received the gradient of the last fsync: " + failure.getMessage(), failure);
        }
    }

    /**
     * Discards the gradient of a learner that has left. The learner's fsync of this gradient had succeeded, so the loss of a part
     * is logged as an error.
     *
     * @param iteration the iteration that was in progress when the learner left
     */
    void discard(long iteration, ExchangeCounters counters) {
        long lostBytes = gradient().drop();
        IOException failure = background.failure();
        if (lostBytes > 0 && !(failure instanceof NonFiniteGradientException)) {
            String reason = PlainText.format("%d bytes of the gradient of iteration %d are lost,"
                + " because the learner left before the push completed: %s", lostBytes, iteration - 1,
                failure == null ? "the push was cancelled" : failure.getMessage());
            LOG.error(reason);
            counters.failed(new IOException(reason));
        }
        sets.other().discard();
    }
}
