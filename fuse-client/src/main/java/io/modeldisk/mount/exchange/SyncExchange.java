package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;

/**
 * One buffer set. fsync pushes the gradient that was written, waits until it is aggregated, pulls the whole model and returns.
 *
 * <p><b>Failures.</b> An fsync that fails has pushed some pieces of the gradient; the next fsync pushes the rest, and nothing
 * twice. The piece that failed is pushed again as a whole and is the same push (see {@link RemoteModel#push}): its blocks that
 * had arrived count once. After a pull that failed, the next read pulls again first.
 */
final class SyncExchange extends BufferedExchange {
    // Guarded by the turn.
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
            if (!repeatsInterrupted()) {
                computationEnded(startedNs);
                stalledSinceNs = startedNs;
                pushing = active.isDirty();
            }
            exchangeActive(true, cancellation);
            iterationEnded(stalledSinceNs, pushing);
            computationBegins();
        } catch (IOException e) {
            counters.failed(e);
            throw e;
        } finally {
            turn.unlock(mine);
        }
    }

    @Override
    public void flush(Cancellation cancellation) {
        // An fsync has returned only when the shards had its gradient.
    }
}
