package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.Transfer;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Weights and gradient in local memory; fsync pushes what was written, waits until it is aggregated, pulls the whole model and
 * returns.
 *
 * <p>A gradient that was not fsynced is never pushed. An fsync that fails has pushed some pieces of it and not others; those it
 * has are forgotten, so that the next fsync pushes the rest and nothing twice. The piece that failed is pushed again as a whole,
 * and is the same push (see {@link RemoteModel#push}): its blocks that had arrived count once. A pull that fails leaves some
 * weights of before: the next read pulls again first.
 */
final class SyncExchange implements LocalExchange {
    /** What one push call moves: large enough to keep all shards busy, a multiple of every block size. */
    static final long PUSH_BYTES = 64 << 20;

    private static final Logger LOG = LogManager.getLogger(SyncExchange.class);

    private final RemoteModel model;
    private final IterationTrace trace;
    private final long bytes;
    private final DirtyBlocks dirty;
    private final ExchangeCounters counters = new ExchangeCounters();
    // Reads and writes share it, an exchange with the shards has it alone: no read sees a block half pulled.
    private final CancellableLock lock = new CancellableLock();

    // Guarded by the lock; made when they are first needed: a mount that is only looked at costs nothing.
    private DataMemory weights;
    private DataMemory gradient;
    private boolean unsynchronized;
    private long iteration = 1;
    private long computingSinceNs;
    private volatile long pulledAtNs;
    private boolean halfPulled;

    SyncExchange(RemoteModel model, ExchangeSettings settings) {
        this.model = model;
        this.trace = settings.trace();
        this.bytes = LogicalBlocks.up(model.facts().sizeBytes());
        this.dirty = new DirtyBlocks(bytes);
    }

    @Override
    public void prepare(boolean learner, Cancellation cancellation) throws IOException {
        long stamp = lock.lockExclusive(cancellation);
        try {
            if (weights == null) {
                weights = model.allocate(bytes);
            }
            if (learner && gradient == null) {
                gradient = model.allocate(bytes);
            }
            pull(cancellation);
            computingSinceNs = trace.nowNs();
        } finally {
            lock.unlock(stamp);
        }
    }

    @Override
    public void read(long offset, int lengthBytes, Transfer transfer) throws IOException {
        while (!readWhole(offset, lengthBytes, transfer)) {
            refresh(transfer.cancellation());
        }
    }

    /** Answers a read unless the weights are half of before. */
    private boolean readWhole(long offset, int lengthBytes, Transfer transfer) throws IOException {
        long stamp = lock.lockShared(transfer.cancellation());
        try {
            if (!halfPulled) {
                transfer.reply(weights, offset, lengthBytes);
            }
            return !halfPulled;
        } finally {
            lock.unlock(stamp);
        }
    }

    @Override
    public void write(long offset, int lengthBytes, Transfer transfer) throws IOException {
        long stamp = lock.lockShared(transfer.cancellation());
        try {
            Memories.copy(transfer.memory(), transfer.memoryOffset(), gradient, offset, lengthBytes);
            dirty.mark(offset, lengthBytes);
        } finally {
            lock.unlock(stamp);
        }
    }

    @Override
    public DataMemory weights() {
        return weights;
    }

    @Override
    public DataMemory gradient() {
        return gradient;
    }

    @Override
    public void written(long offset, long lengthBytes) {
        dirty.mark(offset, lengthBytes);
    }

    @Override
    public void synchronize(Cancellation cancellation) throws IOException {
        long startedNs = trace.nowNs();
        long stamp = lock.lockExclusive(cancellation);
        try {
            trace.add(Phase.COMPUTE, iteration, computingSinceNs, startedNs);
            computingSinceNs = startedNs;
            pushDirty(cancellation);
            boolean pushed = unsynchronized;
            if (pushed) {
                model.synchronize(cancellation);
                unsynchronized = false;
            }
            pull(cancellation);
            long endedNs = trace.nowNs();
            trace.add(Phase.STALL, iteration, startedNs, endedNs);
            counters.stalled(endedNs - startedNs);
            counters.synchronizedIn(endedNs - startedNs, pushed);
            counters.age(endedNs - pulledAtNs);
            computingSinceNs = endedNs;
            iteration++;
        } catch (IOException e) {
            counters.failed(e);
            throw e;
        } finally {
            lock.unlock(stamp);
        }
    }

    @Override
    public void refresh(Cancellation cancellation) throws IOException {
        long stamp = lock.lockExclusive(cancellation);
        try {
            pull(cancellation);
        } finally {
            lock.unlock(stamp);
        }
    }

    @Override
    public void flush(Cancellation cancellation) {
        // An fsync has returned only when the shards had it.
    }

    @Override
    public WeightsInUse weightsInUse() {
        double ageMs = (trace.nowNs() - pulledAtNs) / (double) TimeUnit.MILLISECONDS.toNanos(1);
        return new WeightsInUse(VersionProbe.UNKNOWN, pulledAtNs == 0 ? 0 : ageMs);
    }

    @Override
    public void abandon() {
        long stamp = lock.lockExclusive();
        try {
            long dropped = 0;
            for (long from = dirty.nextDirty(0); from >= 0; from = dirty.nextDirty(from)) {
                long length = dirty.nextClean(from) - from;
                forget(from, length);
                dropped += length;
            }
            unsynchronized = false;
            if (dropped > 0) {
                LOG.warn("a learner closed the model without fsync: {} bytes of gradient are dropped, not pushed",
                    dropped);
            }
        } finally {
            lock.unlock(stamp);
        }
    }

    @Override
    public ExchangeCounters counters() {
        return counters;
    }

    @Override
    public void close() {
        long stamp = lock.lockExclusive();
        try {
            if (weights != null) {
                weights.close();
                weights = null;
            }
            if (gradient != null) {
                gradient.close();
                gradient = null;
            }
        } finally {
            lock.unlock(stamp);
        }
    }

    private void pushDirty(Cancellation cancellation) throws IOException {
        long startedNs = trace.nowNs();
        long pushedBytes = 0;
        try {
            for (long from = dirty.nextDirty(0); from >= 0; from = dirty.nextDirty(from)) {
                long pieceEnd = (from / PUSH_BYTES + 1) * PUSH_BYTES;
                long length = Math.min(dirty.nextClean(from), pieceEnd) - from;
                model.push(from, gradient, from, length, cancellation);
                forget(from, length);
                unsynchronized = true;
                pushedBytes += length;
            }
        } finally {
            if (pushedBytes > 0) {
                long endedNs = trace.nowNs();
                counters.pushed(pushedBytes, endedNs - startedNs);
                trace.add(Phase.PUSH, iteration, startedNs, endedNs);
            }
        }
    }

    /** The gradient outside dirty blocks is always zero, so that a partly written block can go whole. */
    private void forget(long from, long length) {
        Memories.zero(gradient, from, length);
        dirty.clear(from, length);
    }

    private void pull(Cancellation cancellation) throws IOException {
        long startedNs = trace.nowNs();
        pulledAtNs = startedNs;
        halfPulled = true;
        model.pull(0, weights, 0, bytes, cancellation);
        halfPulled = false;
        long endedNs = trace.nowNs();
        counters.pulled(bytes, endedNs - startedNs);
        trace.add(Phase.PULL, iteration, startedNs, endedNs);
    }
}
