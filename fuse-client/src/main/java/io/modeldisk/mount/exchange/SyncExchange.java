package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;

/**
 * An exchange with one buffer set. An fsync pushes the gradient, waits until the shards have aggregated it, and pulls the whole
 * model.
 *
 * <p><b>Failures.</b> After a failed push, the next fsync pushes only the blocks whose push has not succeeded. Some of these
 * blocks may have reached the shards before the failure. The shards count each of them only once (see {@link RemoteModel#push}).
 * After a failed pull, the next read pulls again.
 */
final class SyncExchange extends BufferedExchange {
    // Guarded by {@code turn}.
    private long stalledSinceNs;
    private boolean pushing;

    SyncExchange(RemoteModel model, ExchangeSettings settings) {
        super(model, settings, new ExchangeCounters(), Pacing.AFTER_AGGREGATION);
    }

    @Override
    public void synchronize(Cancellation cancellation) throws IOException {
        long startedNs = trace.clock().nanoTime();
        long mine = turn.lockExclusive(cancellation);
        try {
            cancellation.keep();
            checkWeights(cancellation);
            checkSameGradient();
            if (!foreground.repeatsInterrupted(true)) {
                computationEnded(startedNs);
                stalledSinceNs = startedNs;
                pushing = active().outgoing().isDirty();
            }
            checkNotBack();
            exchangeActive(true, cancellation);
            iterationEnded(stalledSinceNs, pushing);
            round = model.nextRound();
            computationBegins();
            milestone(cancellation);
        } catch (IOException e) {
            savedStateIsOld();
            rememberActive();
            counters.failed(e);
            fsyncFailed(e, cancellation);
        } finally {
            turn.unlock(mine);
        }
    }

    /**
     * Checks that an fsync that ends the iteration of a failed one has the same gradient. The caller holds {@code turn}.
     *
     * @throws ErrnoException EBUSY if the gradient is another one
     */
    private void checkSameGradient() throws ErrnoException {
        OutgoingGradient gradient = active().outgoing();
        if (background.hasEnded() && !gradient.isBegun() && !gradient.hasEnded()) {
            gradient.forget();
        }
        gradient.checkRepeatable();
        if (gradient.isRemembered() && gradient.hasEnded() && inUse.isTouched()) {
            // The shards have this gradient. The process has only written it again.
            inUse.alone(set -> set.outgoing().discardWritten());
        }
    }

    /** Remembers the gradient of an fsync that fails, if the shards may have a part of it. The caller holds {@code turn}. */
    private void rememberActive() {
        if (unfinished && (active().outgoing().isBegun() || foreground.isPushLeft())) {
            active().outgoing().remember();
        }
    }

    @Override
    protected Dropped dropBegun(Cancellation cancellation) throws IOException {
        foreground.endLeft();
        OutgoingGradient gradient = active().outgoing();
        Dropped dropped = new Dropped(iteration, 0, 0, 0);
        if (gradient.isBegun() || gradient.hasEnded()) {
            dropped = gradient.isBegun()
                ? gradient.giveUp(model, iteration, cancellation)
                : gradient.outcome(iteration);
            // The shards may have changed the weights, so they are pulled before the next read.
            inUse.alone(BufferSet::discard);
        }
        return dropped.and(dropActive());
    }

    @Override
    public void flush(Cancellation cancellation) {
        // Nothing to do: an fsync returns only after the shards have received its gradient.
    }
}
