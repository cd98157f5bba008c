package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.DataRequest;
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
 * Weights and gradient in local buffer sets, which a {@link BackgroundExchange} exchanges with the shards. Reads and writes use
 * the active set, and wait while it is lent to an exchange.
 *
 * <p><b>Interrupts.</b> A request that is interrupted stops waiting, and its exchange goes on; the same request, repeated,
 * waits for the same exchange. An open only starts the pull of the weights; the first read waits for it.
 */
abstract class BufferedExchange implements LocalExchange {
    /** How long the last push of a learner may continue after the learner has closed the model. */
    static final long DRAIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private static final Logger LOG = LogManager.getLogger(BufferedExchange.class);

    protected final RemoteModel model;
    protected final long bytes;
    protected final IterationTrace trace;
    protected final ExchangeCounters counters;
    protected final BackgroundExchange background;
    // Only one open, fsync or close at a time.
    protected final CancellableLock turn = new CancellableLock();

    /** Changes under the turn and under {@link #sets}, held alone. */
    protected volatile BufferSet active;

    // Guarded by the turn.
    protected boolean learning;
    protected long iteration = 1;
    protected long computingSinceNs;

    // Reads and writes share it; it is held alone to lend or replace the active set.
    private final CancellableLock sets = new CancellableLock();
    // Whether an interrupted request has left an exchange of the active set; guarded by the turn.
    private boolean left;
    // Whether the active set was read or written after its last exchange.
    private volatile boolean touched;

    BufferedExchange(RemoteModel model, ExchangeSettings settings, ExchangeCounters counters, Pacing pacing) {
        this.model = model;
        this.bytes = LogicalBlocks.up(model.facts().sizeBytes());
        this.trace = settings.trace();
        this.counters = counters;
        this.background = new BackgroundExchange(model, pacing, counters, trace);
        this.active = new BufferSet(bytes);
    }

    @Override
    public void prepare(boolean learner, Cancellation cancellation) throws IOException {
        long mine = turn.lockExclusive(cancellation);
        try {
            // The last open may have started a pull that nobody needs any more.
            background.cancelPull();
            background.awaitEnd(cancellation);
            left = false;
            active.allocate(model, learner);
            BufferSet copy = learner ? allocateSecond() : null;
            lendActive(cancellation);
            if (copy != null) {
                copy.lend();
            }
            background.start(ExchangeJob.pull(active, copy));
            learning = learner;
            iteration = 1;
            computationBegins();
        } finally {
            turn.unlock(mine);
        }
    }

    /** Allocates the set that receives the same weights as the active one when a learner opens; null if there is none. */
    protected BufferSet allocateSecond() throws IOException {
        return null;
    }

    /** The learner begins to compute. Caller has the turn. */
    protected void computationBegins() {
        computingSinceNs = trace.clock().nanoTime();
    }

    private void lendActive(Cancellation cancellation) throws IOException {
        long stamp = sets.lockExclusive(cancellation);
        try {
            active.lend();
            touched = false;
        } finally {
            sets.unlock(stamp);
        }
    }

    /** Makes another set the active one; answers the one before. Caller has the turn. */
    protected final BufferSet replaceActive(BufferSet next, Cancellation cancellation) throws IOException {
        long stamp = sets.lockExclusive(cancellation);
        try {
            BufferSet before = active;
            active = next;
            left = false;
            return before;
        } finally {
            sets.unlock(stamp);
        }
    }

    @Override
    public final void read(long offset, int lengthBytes, DataRequest request) throws IOException {
        while (!readWhole(offset, lengthBytes, request)) {
            awaitWeights(request.cancellation());
        }
    }

    private boolean readWhole(long offset, int lengthBytes, DataRequest request) throws IOException {
        long stamp = sets.lockShared(request.cancellation());
        try {
            boolean readable = active.isReadable();
            if (readable) {
                touched = true;
                request.reply(active.weights(), offset, lengthBytes);
            }
            return readable;
        } finally {
            sets.unlock(stamp);
        }
    }

    @Override
    public final void awaitWeights(Cancellation cancellation) throws IOException {
        long mine = turn.lockExclusive(cancellation);
        try {
            if (active.isLent()) {
                background.awaitEnd(cancellation);
            }
            if (!active.isReadable()) {
                exchangeActive(false, cancellation);
            }
            computationBegins();
        } finally {
            turn.unlock(mine);
        }
    }

    @Override
    public final void write(long offset, int lengthBytes, DataRequest request) throws IOException {
        while (!writeWhole(offset, lengthBytes, request)) {
            background.awaitEnd(request.cancellation());
        }
    }

    private boolean writeWhole(long offset, int lengthBytes, DataRequest request) throws IOException {
        long stamp = sets.lockShared(request.cancellation());
        try {
            boolean writable = !active.isLent();
            if (writable) {
                touched = true;
                active.write(offset, lengthBytes, request.memory(), request.memoryOffset());
            }
            return writable;
        } finally {
            sets.unlock(stamp);
        }
    }

    @Override
    public final DataMemory weights() {
        return active.weights();
    }

    @Override
    public final DataMemory gradient() {
        return active.gradient();
    }

    @Override
    public final void written(long offset, long lengthBytes) {
        touched = true;
        active.written(offset, lengthBytes);
    }

    /**
     * Exchanges the active set and waits for the end. After an interrupt it waits for the exchange that the interrupted request
     * has left, unless the learner has gone on since. Caller has the turn.
     *
     * @param pushes whether the gradient is pushed before the weights are pulled
     */
    protected final void exchangeActive(boolean pushes, Cancellation cancellation) throws IOException {
        if (!repeatsInterrupted()) {
            background.awaitEnd(cancellation);
            lendActive(cancellation);
            background.start(
                pushes ? ExchangeJob.exchange(active, iteration, active.version()) : ExchangeJob.pull(active, null));
            left = true;
        }
        background.awaitEnd(cancellation);
        left = false;
        IOException failure = background.takeFailure();
        if (failure != null) {
            throw failure;
        }
    }

    /** Whether an exchange of the active set repeats one whose request was interrupted. Caller has the turn. */
    protected final boolean repeatsInterrupted() {
        return left && !touched;
    }

    @Override
    public final void refresh(Cancellation cancellation) throws IOException {
        long mine = turn.lockExclusive(cancellation);
        try {
            // The weights of a learner change at its own fsync only.
            if (!learning) {
                exchangeActive(false, cancellation);
            }
        } finally {
            turn.unlock(mine);
        }
    }

    /** The learner has called fsync at this time. Caller has the turn. */
    protected final void computationEnded(long nowNs) {
        trace.add(Phase.COMPUTE, iteration, computingSinceNs, nowNs);
        computingSinceNs = nowNs;
    }

    /** An fsync that has waited since this time succeeds. Caller has the turn. */
    protected final void iterationEnded(long stalledSinceNs, boolean pushed) {
        long nowNs = trace.clock().nanoTime();
        trace.add(Phase.STALL, iteration, stalledSinceNs, nowNs);
        counters.stalled(nowNs - stalledSinceNs);
        counters.synchronizedIn(nowNs - stalledSinceNs, pushed);
        counters.age(nowNs - active.pulledAtNs());
        iteration++;
    }

    @Override
    public final void abandon() {
        long mine = turn.lockExclusive();
        try {
            learning = false;
            left = false;
            if (!background.end(DRAIN_TIMEOUT_NS)) {
                LOG.error("the last exchange of a closed learner does not end: its buffers are allocated again");
            }
            long stamp = sets.lockExclusive();
            try {
                learnerGone();
            } finally {
                sets.unlock(stamp);
            }
        } finally {
            turn.unlock(mine);
        }
    }

    /**
     * The learner has closed the model. A set that is still lent must not be used again. Caller has the turn, and the active
     * set alone.
     */
    protected void learnerGone() {
        if (active.isLent()) {
            active = new BufferSet(bytes);
        }
        long droppedBytes = active.drop();
        if (droppedBytes > 0) {
            LOG.warn("a learner closed the model without fsync: {} bytes of gradient are dropped", droppedBytes);
        }
    }

    @Override
    public final WeightsInUse weightsInUse() {
        BufferSet now = active;
        long ageNs = now.pulledAtNs() == 0 ? 0 : trace.clock().nanoTime() - now.pulledAtNs();
        return new WeightsInUse(now.version(), ageNs / (double) TimeUnit.MILLISECONDS.toNanos(1));
    }

    @Override
    public final ExchangeCounters counters() {
        return counters;
    }

    @Override
    public final void close() {
        long mine = turn.lockExclusive();
        try {
            background.close();
            long stamp = sets.lockExclusive();
            try {
                closeSets();
            } finally {
                sets.unlock(stamp);
            }
        } finally {
            turn.unlock(mine);
        }
    }

    /** Frees the memory of the sets. Caller has the turn, and the active set alone. */
    protected void closeSets() {
        close(active);
    }

    /** Frees the memory of a set, unless an exchange still uses it. */
    protected static void close(BufferSet set) {
        if (set.isLent()) {
            LOG.error("the last exchange does not end: the memory of its buffers is not freed");
        } else {
            set.close();
        }
    }
}
