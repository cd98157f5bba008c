package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.util.Optional;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An exchange with two buffer sets. The learner computes on one set while the other set is exchanged with the shards (iRDMA,
 * section IV.B). An fsync waits until the exchange of the previous fsync has ended. After this wait, the fsync swaps the two sets
 * and returns.
 *
 * <p><b>Weights of an iteration.</b> Each block of weights of iteration <i>k</i> is pulled after the same block of the gradient
 * of iteration <i>k</i> − 2 was pushed. While iteration <i>k</i> computes, the gradient of iteration <i>k</i> − 1 is pushed. The
 * first two iterations use the weights that were pulled at the open. Therefore, in bsp, iteration <i>k</i> uses the weights after
 * exactly <i>k</i> − 2 rounds, one round less than with {@link SyncExchange}.
 *
 * <p><b>Failures.</b> If a push or a pull fails, the next fsync reports the failure and does not swap the sets. The gradient that
 * the shards have not received is kept. The fsync after the failed fsync repeats the exchange and waits for it. close(2) also
 * waits for the push and reports a failure of the push. A gradient is lost after an fsync only if its learner has closed the
 * model. In this case, the log has an error with the number of lost bytes.
 */
final class OverlapExchange extends BufferedExchange {
    private static final Logger LOG = LogManager.getLogger(OverlapExchange.class);

    private final PullScheduler scheduler;

    // Guarded by {@code turn}.
    private BufferSet other;

    OverlapExchange(RemoteModel model, ExchangeSettings settings) {
        this(model, settings, new ExchangeCounters(), new PullScheduler(settings.trace().clock()));
    }

    private OverlapExchange(RemoteModel model, ExchangeSettings settings, ExchangeCounters counters,
        PullScheduler scheduler) {
        super(model, settings, counters, new OverlapPacing(model, settings, scheduler, counters));
        this.scheduler = scheduler;
        this.other = new BufferSet(bytes);
    }

    @Override
    protected BufferSet allocateSecond() throws IOException {
        other.allocate(model, true);
        return other;
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
            computationEnded(startedNs);
            awaitOther(cancellation);
            boolean pushes = active.isDirty();
            other = replaceActive(other, cancellation);
            other.lend();
            ExchangeJob job = ExchangeJob.exchange(other, iteration, active.version());
            iterationEnded(startedNs, pushes);
            // Called before the exchange starts, so that the scheduler can predict the end of this computation.
            computationBegins();
            background.start(job);
        } catch (IOException e) {
            counters.failed(e);
            throw e;
        } finally {
            turn.unlock(mine);
        }
    }

    /**
     * Waits for the exchange of the other set. Throws an exception if the exchange has failed. The next call repeats a failed
     * exchange.
     */
    private void awaitOther(Cancellation cancellation) throws IOException {
        background.awaitEnd(cancellation);
        throwFailure();
        if (!other.isFresh() || other.isDirty()) {
            other.lend();
            background.start(ExchangeJob.exchange(other, Math.max(1, iteration - 1), VersionProbe.UNKNOWN));
            background.awaitEnd(cancellation);
            throwFailure();
        }
    }

    private void throwFailure() throws IOException {
        IOException failure = background.takeFailure();
        if (failure != null) {
            throw new IOException("the exchange of the last iteration failed: " + failure.getMessage()
                + "; the next fsync repeats the exchange", failure);
        }
    }

    @Override
    public void flush(Cancellation cancellation) throws IOException {
        background.awaitPushed(cancellation);
        long mine = turn.lockExclusive(cancellation);
        try {
            IOException failure = background.failure();
            if (learning && failure != null && other.isDirty()) {
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
        if (other.isLent()) {
            other = new BufferSet(bytes);
        }
        long lostBytes = other.drop();
        if (lostBytes > 0) {
            IOException failure = background.failure();
            String reason = ("%d bytes of the gradient of iteration %d are lost,"
                + " because the learner left before the push completed: %s")
                .formatted(
                    lostBytes, iteration - 1, failure == null ? "the push was cancelled" : failure.getMessage());
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
        close(other);
    }
}
