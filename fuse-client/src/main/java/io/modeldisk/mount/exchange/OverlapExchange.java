package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.util.Optional;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Two buffer sets: the learner computes on one while the other is exchanged with the shards (iRDMA, section IV.B). fsync
 * switches them by reference and returns; it waits only if the exchange that the last fsync has started has not ended.
 *
 * <p><b>Which weights a learner sees.</b> Iteration <i>k</i> computes on weights whose pull began after the gradient of
 * iteration <i>k</i> − 2 was pushed, block by block; the gradient of <i>k</i> − 1 is pushed while it computes. The first two
 * compute on the weights that were pulled at the open. So in bsp iteration <i>k</i> sees the weights after exactly <i>k</i> − 2
 * rounds, one less than with {@link SyncExchange}.
 *
 * <p><b>Failures.</b> The next fsync reports a push or pull that has failed, and switches nothing; the gradient that the shards
 * do not have is kept. The fsync after that starts the exchange again and waits for it. close(2) waits for the push, and
 * reports its failure too. Only a learner that has gone can lose a gradient after fsync; the log names it.
 */
final class OverlapExchange extends BufferedExchange {
    private static final Logger LOG = LogManager.getLogger(OverlapExchange.class);

    private final PullScheduler scheduler;

    // Guarded by the turn.
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
            // Before the exchange starts: the scheduler predicts the end of this computation from its start.
            computationBegins();
            background.start(job);
        } catch (IOException e) {
            counters.failed(e);
            throw e;
        } finally {
            turn.unlock(mine);
        }
    }

    /** Waits until the other set has been exchanged; throws its failure once, and starts it again the next time. */
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
            throw new IOException("the exchange of the last iteration failed; the next fsync repeats it: "
                + failure.getMessage(), failure);
        }
    }

    @Override
    public void flush(Cancellation cancellation) throws IOException {
        background.awaitPushed(cancellation);
        long mine = turn.lockExclusive(cancellation);
        try {
            IOException failure = background.failure();
            if (learning && failure != null && other.isDirty()) {
                throw new IOException("the shards do not have the gradient of the last fsync: " + failure.getMessage(),
                    failure);
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
            String reason = "%d bytes of the gradient of iteration %d are lost, its learner has closed the model: %s"
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
