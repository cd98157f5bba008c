package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.util.Optional;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An exchange with two buffer sets. The learner computes on one set while the other set is exchanged with the shards (iRDMA,
 * section IV.B). An fsync waits until the exchange that the previous fsync started has ended. Then the fsync swaps the two sets,
 * starts the next exchange and returns.
 *
 * <p><b>Weights of an iteration.</b> Iterations count from 1 at the open. Iterations 1 and 2 use the weights that were pulled at
 * the open. While iteration <i>k</i> ≥ 2 computes, the gradient of iteration <i>k</i> − 1 is pushed, and the weights of iteration
 * <i>k</i> + 1 are pulled. A block of these weights is pulled after the same block of this gradient was pushed. Therefore, in
 * bsp, iteration <i>k</i> ≥ 2 uses the weights after exactly <i>k</i> − 2 rounds since the open: one round less than with
 * {@link SyncExchange}.
 *
 * <p><b>Failures.</b> If the exchange that fsync <i>n</i> has started fails, fsync <i>n</i> + 1 reports the failure and does not
 * swap the sets. Fsync <i>n</i> + 2 pushes the rest of the gradient, pulls again, and waits until this exchange has ended.
 * close(2) waits until the push has ended, and reports a failure of the push.
 *
 * <p>After a successful fsync, a set keeps the gradient until the shards have received the gradient. The rest of the gradient is
 * lost only after the learner has closed the model or died, because a failed push is then not repeated, and a push in progress is
 * cancelled after 5 s. The log has an error for this loss.
 */
final class OverlapExchange extends BufferedExchange {
    private static final Logger LOG = LogManager.getLogger(OverlapExchange.class);

    private final PullScheduler scheduler;

    // Guarded by {@code turn}.
    private volatile BufferSet other;

    OverlapExchange(RemoteModel model, ExchangeSettings settings) {
        this(model, settings, new ExchangeCounters(), new PullScheduler(settings.trace().clock()));
    }

    private OverlapExchange(RemoteModel model, ExchangeSettings settings, ExchangeCounters counters,
        PullScheduler scheduler) {
        super(model, settings, counters, new OverlapPacing(model, settings, scheduler, counters));
        this.scheduler = scheduler;
        this.other = new BufferSet(1, bytes, buffers);
    }

    @Override
    protected void activateFirst(Cancellation cancellation) throws IOException {
        if (active().number() != 0) {
            activateNext(cancellation);
        }
    }

    @Override
    protected void activateNext(Cancellation cancellation) throws IOException {
        other = replaceActive(other, cancellation);
    }

    @Override
    protected BufferSet allocateSecond(boolean wholeGradients) throws IOException {
        other.allocate(model, true);
        other.wholeGradients(wholeGradients);
        return other;
    }

    @Override
    protected BufferSet set(int number) {
        return active().number() == number ? active() : other;
    }

    @Override
    public int sets() {
        return 2;
    }

    @Override
    protected void computationBegins() {
        super.computationBegins();
        if (learning) {
            scheduler.computationBegins();
        }
    }

    @Override
    public void synchronize(Cancellation cancellation) throws IOException {
        long startedNs = trace.clock().nanoTime();
        scheduler.computationEnds();
        long mine = turn.lockExclusive(cancellation);
        try {
            cancellation.keep();
            checkWeights(cancellation);
            computationEnded(startedNs);
            checkNotBack();
            awaitOther(cancellation);
            boolean pushes = active().outgoing().isDirty();
            other = replaceActive(other, cancellation);
            other.lend();
            ExchangeJob job = ExchangeJob.exchange(other, iteration, active().version());
            iterationEnded(startedNs, pushes);
            // If the learner has written a gradient, the exchange below pushes the next round. The learner then computes the
            // round after the pushed round.
            round = model.nextRound() + (pushes ? 1 : 0);
            // Called before the exchange starts, so that the scheduler can predict the end of this computation.
            computationBegins();
            milestone(cancellation);
            background.start(job);
        } catch (IOException e) {
            savedStateIsOld();
            counters.failed(e);
            fsyncFailed(e, cancellation);
        } finally {
            turn.unlock(mine);
        }
    }

    @Override
    protected BufferSet dropSecond() {
        other.outgoing().drop();
        other.lend();
        return other;
    }

    /**
     * Waits until the exchange of the other set has ended. If this exchange has failed, throws an exception. The next call
     * repeats the failed exchange.
     */
    private void awaitOther(Cancellation cancellation) throws IOException {
        background.awaitEnd(cancellation);
        throwFailure();
        if (!other.isFresh() || other.outgoing().isDirty()) {
            other.outgoing().checkRepeatable();
            other.lend();
            background.start(ExchangeJob.exchange(other, Math.max(1, iteration - 1), VersionProbe.UNKNOWN));
            background.awaitEnd(cancellation);
            throwFailure();
        }
        other.outgoing().forget();
    }

    private void throwFailure() throws IOException {
        IOException failure = background.takeFailure();
        if (failure instanceof NonFiniteGradientException) {
            other.outgoing().drop();
        }
        if (failure instanceof NonFiniteGradientException || failure != null && OnRollback.isReason(failure)) {
            throw failure;
        }
        if (failure != null) {
            other.outgoing().remember();
            throw new IOException("the exchange of the previous iteration failed: " + failure.getMessage()
                + "; the next fsync repeats the exchange", failure);
        }
    }

    @Override
    protected Dropped dropBegun(Cancellation cancellation) throws IOException {
        Dropped dropped = new Dropped(iteration, 0, 0, 0);
        OutgoingGradient failed = other.outgoing();
        // An exchange in progress belongs to an fsync that has succeeded, unless it repeats one that has failed.
        if (failed.isRemembered() && !background.end(0)) {
            throw new ErrnoException(Errno.EBUSY, "the push of the gradient could not be stopped yet; drop it again");
        }
        if (background.hasEnded()) {
            if (failed.isBegun()) {
                dropped = failed.giveUp(model, iteration, cancellation);
            } else if (failed.isRemembered() && failed.hasEnded()) {
                dropped = failed.outcome(iteration);
                failed.forget();
            } else {
                dropped = dropped.and(failed.drop());
            }
            background.takeFailure();
        }
        return dropped.and(dropActive());
    }

    @Override
    public void flush(Cancellation cancellation) throws IOException {
        background.awaitPushed(cancellation);
        long mine = turn.lockExclusive(cancellation);
        try {
            IOException failure = background.failure();
            // Any descriptor may be closed, such as that of a child process, so the next fsync reports the failure too.
            if (learning && failure instanceof NonFiniteGradientException && other.outgoing().isDirty()) {
                throw failure;
            }
            if (learning && failure != null && other.outgoing().hasUnpushed() && !ignores(failure)) {
                throw new IOException(
                    "the shards have not received the gradient of the last fsync: " + failure.getMessage(), failure);
            }
        } finally {
            turn.unlock(mine);
        }
    }

    @Override
    protected void learnerGone() {
        scheduler.computationIsAbandoned();
        other = unlessLent(other);
        long lostBytes = other.outgoing().drop();
        IOException failure = background.failure();
        if (lostBytes > 0 && !(failure instanceof NonFiniteGradientException)) {
            String reason = PlainText.format("%d bytes of the gradient of iteration %d are lost,"
                + " because the learner left before the push completed: %s", lostBytes, iteration - 1,
                failure == null ? "the push was cancelled" : failure.getMessage());
            LOG.error(reason);
            counters.failed(new IOException(reason));
        }
        other.discard();
        super.learnerGone();
    }

    @Override
    public Optional<PullScheduler.Forecast> forecast() {
        return Optional.of(scheduler.forecast());
    }

    @Override
    protected void closeSets() {
        super.closeSets();
        other.closeUnlessLent();
    }
}
