package io.modeldisk.mount.exchange;

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
            rememberActive();
            counters.failed(e);
            startOver(e, cancellation);
        } finally {
            turn.unlock(mine);
        }
    }

    @Override
    protected Dropped dropBegun(Cancellation cancellation) throws IOException {
        foreground.endLeft();
        OutgoingGradient gradient = active().outgoing();
        Dropped dropped = new Dropped(iteration, 0, 0, 0);
        if (gradient.isBegun()) {
            dropped = gradient.giveUp(model, iteration, cancellation);
        } else if (gradient.hasEnded()) {
            dropped = new Dropped(iteration, gradient.begunBytes(), 0, 0);
        }
        boolean begun = dropped.acceptedBytes() + dropped.leftOutBytes() > 0;
        dropped = dropped.and(dropActive());
        if (begun) {
            renewWeights(cancellation);
        }
        return dropped;
    }

    @Override
    public void flush(Cancellation cancellation) {
        // Nothing to do: an fsync returns only after the shards have received its gradient.
    }
}
