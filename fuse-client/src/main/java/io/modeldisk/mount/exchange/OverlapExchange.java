package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.Transfer;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Two buffer sets: the learner computes on one while the other is exchanged with the shards (iRDMA, section IV.B). fsync switches
 * them by reference and returns; it waits only while the exchange that the fsync before has begun has not ended.
 *
 * <p><b>Which weights a learner sees.</b> Iteration <i>k</i> computes on weights whose pull began after the gradient of iteration
 * <i>k</i> − 2 was pushed, block by block; the gradient of <i>k</i> − 1 is pushed while it computes. The first two compute on
 * weights as of the open. So in bsp iteration <i>k</i> sees the weights after exactly <i>k</i> − 2 rounds, one less than with
 * {@link SyncExchange}.
 *
 * <p><b>Failures.</b> A push or pull that fails is reported by the next fsync, which switches nothing then; what of the
 * gradient the shards have not taken is kept. The fsync after that tries it again, and waits for it, before it switches.
 * close(2) waits for the push and reports its failure too. Only a learner that is gone can lose what it has fsynced; the log
 * says so.
 */
final class OverlapExchange implements LocalExchange {
    /** How long a learner that was killed may keep the mount busy with its last gradient. */
    static final long DRAIN_TIMEOUT_MS = 5_000;

    private static final Logger LOG = LogManager.getLogger(OverlapExchange.class);

    private final RemoteModel model;
    private final long bytes;
    private final ExchangeCounters counters = new ExchangeCounters();
    private final PullScheduler scheduler;
    private final IterationTrace trace;
    private final BackgroundExchange background;
    // Reads and writes share it, whoever switches or fills the active set has it alone.
    private final CancellableLock lock = new CancellableLock();
    // Only one fsync, open or close at a time.
    private final CancellableLock turn = new CancellableLock();

    // Changes under both locks, held alone.
    private volatile BufferSet active;
    // Guarded by the turn.
    private BufferSet other;
    private boolean learning;
    private long iteration;
    private long computingSinceNs;

    OverlapExchange(RemoteModel model, ExchangeSettings settings) {
        this.model = model;
        this.bytes = LogicalBlocks.up(model.facts().sizeBytes());
        this.active = new BufferSet(bytes);
        this.other = new BufferSet(bytes);
        this.trace = settings.trace();
        this.scheduler = new PullScheduler(trace::nowNs);
        this.background = new BackgroundExchange(model, settings.pull(), scheduler, counters, trace);
    }

    @Override
    public void prepare(boolean learner, Cancellation cancellation) throws IOException {
        long mine = turn.lockExclusive(cancellation);
        try {
            pullActive(learner, cancellation);
            if (learner) {
                other.allocate(model, true);
                learning = true;
                iteration = 1;
                // A learner before this one may have left an exchange that would not end.
                background.awaitEnd(cancellation);
                // There is nothing to push: this only pulls what the second iteration computes on.
                background.start(other, 0, VersionProbe.UNKNOWN);
                computationBegins();
            }
        } finally {
            turn.unlock(mine);
        }
    }

    private void pullActive(boolean learner, Cancellation cancellation) throws IOException {
        long stamp = lock.lockExclusive(cancellation);
        try {
            active.allocate(model, learner);
            long startNs = trace.nowNs();
            active.pullBegins(startNs, VersionProbe.UNKNOWN);
            model.pull(0, active.weights(), 0, bytes, cancellation);
            active.pullEnds();
            counters.pulled(bytes, trace.nowNs() - startNs);
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

    /** Answers a read unless a pull for a reader has failed half-way; a learner never gets such a set. */
    private boolean readWhole(long offset, int lengthBytes, Transfer transfer) throws IOException {
        long stamp = lock.lockShared(transfer.cancellation());
        try {
            if (active.isFresh()) {
                transfer.reply(active.weights(), offset, lengthBytes);
            }
            return active.isFresh();
        } finally {
            lock.unlock(stamp);
        }
    }

    @Override
    public void write(long offset, int lengthBytes, Transfer transfer) throws IOException {
        long stamp = lock.lockShared(transfer.cancellation());
        try {
            active.write(offset, lengthBytes, transfer.memory(), transfer.memoryOffset());
        } finally {
            lock.unlock(stamp);
        }
    }

    @Override
    public DataMemory weights() {
        return active.weights();
    }

    @Override
    public DataMemory gradient() {
        return active.gradient();
    }

    @Override
    public void written(long offset, long lengthBytes) {
        active.written(offset, lengthBytes);
    }

    @Override
    public void synchronize(Cancellation cancellation) throws IOException {
        long startedNs = trace.nowNs();
        scheduler.computationEnds();
        long mine = turn.lockExclusive(cancellation);
        try {
            trace.add(Phase.COMPUTE, iteration, computingSinceNs, startedNs);
            computingSinceNs = startedNs;
            awaitOther(cancellation);
            boolean pushes = active.isDirty();
            switchSets(cancellation);
            long nowNs = trace.nowNs();
            trace.add(Phase.STALL, iteration, startedNs, nowNs);
            counters.stalled(nowNs - startedNs);
            counters.synchronizedIn(nowNs - startedNs, pushes);
            counters.age(nowNs - active.pulledAtNs());
            background.start(other, iteration, active.version());
            iteration++;
            computationBegins();
        } catch (IOException e) {
            counters.failed(e);
            throw e;
        } finally {
            turn.unlock(mine);
        }
    }

    /** Waits until the other set has been exchanged; says so if it could not be, and the next time tries it again. */
    private void awaitOther(Cancellation cancellation) throws IOException {
        background.awaitEnd(cancellation);
        throwFailure();
        if (!other.isFresh() || other.isDirty()) {
            background.start(other, iteration - 1, VersionProbe.UNKNOWN);
            background.awaitEnd(cancellation);
            throwFailure();
        }
    }

    private void throwFailure() throws IOException {
        IOException failure = background.takeFailure();
        if (failure != null) {
            throw new IOException("the exchange of the iteration before failed, and goes on with the next fsync: "
                + failure.getMessage(), failure);
        }
    }

    private void switchSets(Cancellation cancellation) throws IOException {
        long stamp = lock.lockExclusive(cancellation);
        try {
            BufferSet computed = active;
            active = other;
            other = computed;
        } finally {
            lock.unlock(stamp);
        }
    }

    private void computationBegins() {
        computingSinceNs = trace.nowNs();
        scheduler.computationBegins();
    }

    @Override
    public void flush(Cancellation cancellation) throws IOException {
        background.awaitPushed(cancellation);
        long mine = turn.lockExclusive(cancellation);
        try {
            if (learning && other.isDirty() && background.failure() != null) {
                throw new IOException("the gradient of the last fsync is not with the shards: "
                    + background.failure().getMessage(), background.failure());
            }
        } finally {
            turn.unlock(mine);
        }
    }

    @Override
    public void refresh(Cancellation cancellation) throws IOException {
        long mine = turn.lockExclusive(cancellation);
        try {
            // A learner's weights stay as they are until its own fsync.
            if (!learning) {
                pullActive(false, cancellation);
            }
        } finally {
            turn.unlock(mine);
        }
    }

    @Override
    public void abandon() {
        long mine = turn.lockExclusive();
        try {
            scheduler.computationIsAbandoned();
            learning = false;
            if (!background.end(DRAIN_TIMEOUT_MS)) {
                LOG.error("the last exchange of a learner that is gone does not end; its buffers are given up");
                other = new BufferSet(bytes);
            }
            reportLoss(background.failure());
            other.stale();
            long stamp = lock.lockExclusive();
            long dropped;
            try {
                dropped = active.drop();
            } finally {
                lock.unlock(stamp);
            }
            if (dropped > 0) {
                LOG.warn("a learner closed the model without fsync: {} bytes of gradient are dropped, not pushed",
                    dropped);
            }
        } finally {
            turn.unlock(mine);
        }
    }

    private void reportLoss(IOException failure) {
        long lost = other.drop();
        if (lost > 0) {
            String reason = "%d bytes of the gradient of iteration %d are lost, its learner is gone: %s".formatted(lost,
                iteration - 1, failure == null ? "the push was cancelled" : failure.getMessage());
            LOG.error(reason);
            counters.failed(new IOException(reason));
        }
    }

    @Override
    public WeightsInUse weightsInUse() {
        BufferSet now = active;
        double ageMs = now.pulledAtNs() == 0
            ? 0
            : (trace.nowNs() - now.pulledAtNs()) / (double) TimeUnit.MILLISECONDS.toNanos(1);
        return new WeightsInUse(now.version(), ageMs);
    }

    @Override
    public ExchangeCounters counters() {
        return counters;
    }

    @Override
    public Optional<PullScheduler.Forecast> forecast() {
        return Optional.of(scheduler.forecast());
    }

    @Override
    public void close() {
        long mine = turn.lockExclusive();
        try {
            background.close();
            if (background.end()) {
                other.close();
            } else {
                LOG.error("the last exchange does not end; its memory is not given back");
            }
            long stamp = lock.lockExclusive();
            try {
                active.close();
            } finally {
                lock.unlock(stamp);
            }
        } finally {
            turn.unlock(mine);
        }
    }
}
