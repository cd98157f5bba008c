package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An exchange with local buffer sets for weights and gradients. A {@link BackgroundExchange} exchanges the sets with the shards.
 * Reads and writes use the active set, and wait while this set is lent to an exchange.
 *
 * <p><b>Interrupts.</b> An interrupted request stops waiting, but its exchange continues. If the process repeats the request, the
 * new request waits for the same exchange. An open only starts the pull of the weights. The first read waits for this pull.
 *
 * <p><b>Gradients.</b> A gradient counts whole or not at all; see {@link OutgoingGradient}. After a failed or interrupted fsync,
 * the next fsync must push the same gradient, or the learner {@linkplain #drop drops} the rest.
 *
 * <p><b>Shards that go back or forget.</b> After a shard has gone back to earlier weights, or has forgotten the learner in the
 * middle of a gradient, the fsync in progress or the next fsync discards the gradients and starts to pull the weights. So the
 * learner goes on as after an open. With {@link OnRollback#FAIL}, this fsync fails.
 */
abstract class BufferedExchange implements LocalExchange {
    /** The maximum time that the last push of a learner continues after the learner has closed the model. */
    static final long DRAIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private static final Logger LOG = LogManager.getLogger(BufferedExchange.class);

    protected final RemoteModel model;
    protected final long bytes;
    protected final IterationTrace trace;
    protected final ExchangeCounters counters;
    protected final BackgroundExchange background;
    // One open, fsync or close at a time holds this lock.
    protected final CancellableLock turn = new CancellableLock();

    // A thread that lends or replaces the set holds {@code turn}.
    protected final ActiveSet inUse;
    private final OnRollback onRollback;
    protected final ExchangeSettings.Buffers buffers;
    private Milestone milestones = request -> {};

    // Guarded by {@code turn}.
    /** Why a gradient was discarded after a shard had gone back, which the next fsync or drop reports; null if none was. */
    private IOException rollback;
    protected boolean learning;
    /** Whether the learner maps the buffers. */
    private boolean mapped;
    /** Whether an interrupted fsync has pulled weights that the learner did not have, so that its repetition fails. */
    private boolean weightsMissed;
    /** What the drops since the last fsync have given up. The repetition of an interrupted drop reports it again. */
    private Dropped dropped = Dropped.NOTHING;
    /** Whether the last fsync has not ended its iteration, so that the next fsync repeats it. */
    protected boolean unfinished;
    /** The number of the iteration, from 1. Writes are guarded by {@code turn}. */
    protected volatile long iteration = 1;
    protected long computingSinceNs;

    /** The round of the gradient that the learner computes now; 0 without a learner. Writes are guarded by {@link #turn}. */
    protected volatile long round;

    protected final ForegroundExchange foreground;

    BufferedExchange(RemoteModel model, ExchangeSettings settings, ExchangeCounters counters, Pacing pacing) {
        this.model = model;
        this.bytes = LogicalBlock.up(model.trainBytes());
        this.trace = settings.trace();
        this.counters = counters;
        this.onRollback = settings.onRollback();
        this.background = new BackgroundExchange(model, pacing, counters, trace);
        this.buffers = settings.buffers();
        this.inUse = new ActiveSet(new BufferSet(0, bytes, buffers));
        this.foreground = new ForegroundExchange(model, background, inUse);
    }

    /** Returns the set that reads and writes use. */
    protected final BufferSet active() {
        return inUse.set();
    }

    @Override
    public final void prepare(boolean learner, Cancellation cancellation) throws IOException {
        prepare(learner, false, cancellation);
    }

    @Override
    public final void prepareMapped(Cancellation cancellation) throws IOException {
        prepare(true, true, cancellation);
    }

    private void prepare(boolean learner, boolean maps, Cancellation cancellation) throws IOException {
        long mine = turn.lockExclusive(cancellation);
        try {
            // The last open may have started a pull that is no longer needed.
            background.cancelPull();
            background.awaitEnd(cancellation);
            foreground.forget();
            activateFirst(cancellation);
            active().allocate(model, learner);
            active().wholeGradients(maps);
            BufferSet copy = learner ? allocateSecond(maps) : null;
            inUse.lend(cancellation);
            if (copy != null) {
                copy.lend();
            }
            background.start(ExchangeJob.pull(active(), copy));
            rollback = null;
            weightsMissed = false;
            dropped = Dropped.NOTHING;
            learning = learner;
            mapped = maps;
            unfinished = false;
            round = learner ? model.nextRound() : 0;
            iteration = 1;
            computationBegins();
        } finally {
            turn.unlock(mine);
        }
    }

    /** Makes set 0 the active set. The caller holds {@code turn}. */
    protected void activateFirst(Cancellation cancellation) throws IOException {
        // The scheme has only one set.
    }

    /**
     * Allocates the second set, which receives a copy of the weights at an open. Returns null if the scheme has only one set.
     *
     * @param wholeGradients see {@link BufferSet#wholeGradients}
     */
    protected BufferSet allocateSecond(boolean wholeGradients) throws IOException {
        return null;
    }

    /** Returns a set. Without {@code turn}, the result may be another set for a moment. */
    protected BufferSet set(int number) {
        return active();
    }

    @Override
    public int sets() {
        return 1;
    }

    @Override
    public final int activeSet() {
        return active().number();
    }

    @Override
    public final long iterations() {
        return iteration - 1;
    }

    @Override
    public final DataMemory buffer(int number, boolean gradient, Cancellation cancellation) throws IOException {
        BufferSet now = set(number);
        DataMemory known = gradient ? now.gradient() : now.weights();
        if (known != null && now.number() == number) {
            now.show(gradient);
            return known;
        }
        long mine = turn.lockExclusive(cancellation);
        try {
            BufferSet set = set(number);
            set.allocate(model, gradient);
            set.show(gradient);
            return gradient ? set.gradient() : set.weights();
        } finally {
            turn.unlock(mine);
        }
    }

    /** Records that the learner begins to compute. The caller holds {@code turn}. */
    protected void computationBegins() {
        computingSinceNs = trace.clock().nanoTime();
    }

    /** Makes another set the active set. Returns the previous active set. The caller holds {@code turn}. */
    protected final BufferSet replaceActive(BufferSet next, Cancellation cancellation) throws IOException {
        BufferSet before = inUse.replace(next, cancellation);
        foreground.forget();
        return before;
    }

    @Override
    public final void read(long offset, int lengthBytes, DataRequest request) throws IOException {
        while (!inUse.read(offset, lengthBytes, request)) {
            awaitWeights(request.cancellation());
        }
    }

    @Override
    public final void awaitWeights(Cancellation cancellation) throws IOException {
        long mine = turn.lockExclusive(cancellation);
        try {
            if (active().isLent()) {
                background.awaitEnd(cancellation);
            }
            if (!active().isReadable()) {
                pullActive(cancellation);
            }
            computationBegins();
            milestone(cancellation);
        } finally {
            turn.unlock(mine);
        }
    }

    /**
     * Pulls the weights into the active set. If a shard has gone back or has forgotten the learner, goes on and pulls again. The
     * caller holds {@code turn}.
     */
    private void pullActive(Cancellation cancellation) throws IOException {
        try {
            exchangeActive(false, cancellation);
        } catch (IOException e) {
            if (!OnRollback.isReason(e)) {
                throw e;
            }
            rollback = e;
            counters.wentOn(e, model.goOn());
            exchangeActive(false, cancellation);
        }
    }

    /** Throws the rollback that the next fsync or drop reports. The caller holds {@code turn}. */
    protected final void checkNotBack() throws IOException {
        if (rollback != null) {
            throw rollback;
        }
    }

    /**
     * Lets the learner go on after an fsync or a drop has failed for a reason of {@link OnRollback}. Discards the gradients, and
     * starts to pull the weights. The caller holds {@code turn}.
     *
     * @throws IOException {@code reason}, if another reason has let the call fail, or if the learner is to be told; the failure
     *     of the pull, if a learner that maps the weights would not have them
     */
    private void startOver(IOException reason, Cancellation cancellation) throws IOException {
        if (!OnRollback.isReason(reason)) {
            throw reason;
        }
        background.awaitEnd(Cancellation.NONE);
        if (rollback == null) {
            counters.wentOn(reason, model.goOn());
        }
        // Until the learner knows it: an interrupted call ends with EINTR, so its repetition comes here again.
        rollback = reason;
        weightsMissed = false;
        foreground.forget();
        long droppedBytes = inUse.dropAndLend();
        BufferSet copy = dropSecond();
        LOG.warn(
            "{}; {} bytes of the gradient of iteration {} are discarded, and the learner goes on from the weights of the shards",
            reason.getMessage(), droppedBytes, iteration);
        background.start(ExchangeJob.pull(active(), copy));
        round = model.nextRound();
        unfinished = false;
        if (mapped) {
            // A learner that maps the weights cannot wait for them when it reads them.
            background.awaitEnd(cancellation);
            IOException failure = background.takeFailure();
            if (failure != null) {
                cancellation.check();
                rollback = null;
                throw failure;
            }
        }
        computationBegins();
        if (onRollback == OnRollback.FAIL) {
            cancellation.check();
            rollback = null;
            throw reason;
        }
        rollback = null;
    }

    /** Ends an fsync that has failed; see {@link #startOver}. For the learner, it has succeeded unless this call throws. */
    protected final void fsyncFailed(IOException reason, Cancellation cancellation) throws IOException {
        startOver(reason, cancellation);
        if (mapped) {
            activateNext(cancellation);
            iteration++;
        }
    }

    /** Makes the next set the active set. Both sets have the same weights. The caller holds {@code turn}. */
    protected void activateNext(Cancellation cancellation) throws IOException {
        // The scheme has only one set.
    }

    /**
     * Checks that a learner that maps the weights had them. If not, pulls them. The caller holds {@code turn}.
     *
     * @throws IOException if the learner did not have them, so that its gradient is discarded
     */
    protected final void checkWeights(Cancellation cancellation) throws IOException {
        if (!mapped || unfinished || rollback != null || active().isReadable() && !weightsMissed) {
            return;
        }
        weightsMissed = true;
        if (!active().isReadable()) {
            pullActive(cancellation);
        }
        cancellation.check();
        weightsMissed = false;
        checkNotBack();
        throw new IOException(
            "the weights could not be pulled after the last fsync, so the gradient is discarded; the"
                + " learner can go on from the weights that are there now");
    }

    /** Discards the gradient of the second set and lends this set. Returns null if the scheme has only one set. */
    protected BufferSet dropSecond() {
        return null;
    }

    /** Returns whether the learner is not told this failure, because it goes on by itself. */
    protected final boolean ignores(IOException failure) {
        return onRollback == OnRollback.CONTINUE && OnRollback.isReason(failure);
    }

    @Override
    public final void write(long offset, int lengthBytes, DataRequest request) throws IOException {
        while (!inUse.write(offset, lengthBytes, request)) {
            background.awaitEnd(request.cancellation());
        }
    }

    @Override
    public final DataMemory weights() {
        return active().weights();
    }

    @Override
    public final DataMemory gradient() {
        return active().gradient();
    }

    @Override
    public final void written(long offset, long lengthBytes) {
        inUse.written(offset, lengthBytes);
    }

    /**
     * Exchanges the active set; see {@link ForegroundExchange#run}. The caller holds {@code turn}.
     *
     * @param pushes whether the gradient is pushed before the weights are pulled
     */
    protected final void exchangeActive(boolean pushes, Cancellation cancellation) throws IOException {
        try {
            foreground.run(pushes ? iteration : 0, cancellation);
        } catch (NonFiniteGradientException e) {
            dropActive();
            throw e;
        }
    }

    /** Discards the gradient of the active set, of which nothing has reached the shards. The caller holds {@code turn}. */
    protected final long dropActive() {
        unfinished = false;
        return inUse.drop();
    }

    /**
     * Records that an fsync or a drop does not end as the saved state expects. After a kill, the next process would take the next
     * gradient for the one that was begun, so it must not use that state. The caller holds {@code turn}.
     */
    protected final void savedStateIsOld() {
        if (mapped) {
            milestones.reached(null);
        }
    }

    @Override
    public final Dropped drop(Cancellation cancellation) throws IOException {
        long mine = turn.lockExclusive(cancellation);
        try {
            if (!learning) {
                throw new ErrnoException(Errno.ENODATA, "no process has the model open for writing");
            }
            savedStateIsOld();
            dropped = dropped.and(dropBegun(cancellation));
            if (mapped && !active().isReadable()) {
                // A learner that maps the weights cannot wait for them when it reads them.
                pullActive(cancellation);
            }
            checkNotBack();
            round = model.nextRound();
            computationBegins();
            counters.dropped(dropped);
            LOG.info("the learner has dropped a gradient: {}", dropped);
            return dropped;
        } catch (IOException e) {
            counters.failed(e);
            startOver(e, cancellation);
            return Dropped.NOTHING;
        } finally {
            turn.unlock(mine);
        }
    }

    /** Gives up what {@link #drop} gives up. The caller holds {@code turn}. */
    protected abstract Dropped dropBegun(Cancellation cancellation) throws IOException;

    @Override
    public final void refresh(Cancellation cancellation) throws IOException {
        long mine = turn.lockExclusive(cancellation);
        try {
            // The weights of a learner change only at its own fsync.
            if (!learning) {
                exchangeActive(false, cancellation);
            }
        } finally {
            turn.unlock(mine);
        }
    }

    /** Records that the learner has called fsync. The caller holds {@code turn}. */
    protected final void computationEnded(long nowNs) {
        if (mapped && !unfinished) {
            active().outgoing().written(0, bytes);
        }
        unfinished = true;
        dropped = Dropped.NOTHING;
        trace.add(Phase.COMPUTE, iteration, computingSinceNs, nowNs);
        computingSinceNs = nowNs;
    }

    /** Records that an fsync has succeeded. The caller holds {@code turn}. */
    protected final void iterationEnded(long stalledSinceNs, boolean pushed) {
        long nowNs = trace.clock().nanoTime();
        trace.add(Phase.STALL, iteration, stalledSinceNs, nowNs);
        counters.stalled(nowNs - stalledSinceNs);
        counters.synchronizedIn(nowNs - stalledSinceNs, pushed);
        counters.age(nowNs - active().pulledAtNs());
        active().outgoing().forget();
        unfinished = false;
        iteration++;
    }

    @Override
    public final void abandon() {
        long mine = turn.lockExclusive();
        try {
            learning = false;
            mapped = false;
            round = 0;
            foreground.forget();
            if (!background.end(DRAIN_TIMEOUT_NS)) {
                LOG.error("the last exchange of a learner did not end after the learner had closed the model;"
                    + " the mount allocates new buffers");
            }
            learnerGone();
            milestones.reached(null);
        } finally {
            turn.unlock(mine);
        }
    }

    /**
     * Discards the gradient of a learner that has closed the model. Replaces a set that is still lent, because the exchange may
     * still use the memory of the set. The caller holds {@code turn}.
     */
    protected void learnerGone() {
        long droppedBytes = inUse.dropUnlessLent(this::unlessLent);
        if (droppedBytes > 0) {
            LOG.warn("a learner closed the model without a successful fsync after its last write:"
                + " {} bytes of its gradient are lost", droppedBytes);
        }
    }

    /** Returns a set of a learner that has closed the model, or a new set if an exchange may still use its memory. */
    protected final BufferSet unlessLent(BufferSet set) {
        return set.abandon() ? new BufferSet(set.number(), bytes, buffers) : set;
    }

    /** Tells that the state can be saved. The caller holds {@code turn}. */
    protected final void milestone(Cancellation request) {
        if (mapped && learning && background.hasEnded()) {
            milestones.reached(request);
        }
    }

    @Override
    public final void onMilestone(Milestone handler) {
        milestones = handler;
    }

    @Override
    public final boolean freeze() {
        background.close();
        return background.hasEnded();
    }

    @Override
    public final long imageBytes() {
        return ExchangeImage.BYTES + sets() * active().imageBytes();
    }

    @Override
    public final void save(ByteBuffer to) {
        new ExchangeImage(learning, mapped, unfinished, rollback != null, active().number(), iteration, round).save(to);
        for (int i = 0; i < sets(); i++) {
            set(i).save(to);
        }
    }

    @Override
    public final void resume(ByteBuffer from) throws IOException {
        long mine = turn.lockExclusive();
        try {
            ExchangeImage image = ExchangeImage.of(from);
            learning = image.learning();
            mapped = image.mapped();
            unfinished = image.unfinished();
            rollback = image.untold() ? OnRollback.untold() : null;
            iteration = image.iteration();
            round = image.round();
            for (int i = 0; i < sets(); i++) {
                set(i).restore(from, model, trace.clock().nanoTime());
            }
            if (image.activeSet() != active().number()) {
                activateNext(Cancellation.NONE);
            }
            computationBegins();
            for (int i = 0; learning && i < sets(); i++) {
                BufferSet set = set(i);
                // With one set, the fsync that has begun the exchange repeats it.
                if (set != active() && !set.outgoing().isGivenUp() && (!set.isFresh() || set.outgoing().isDirty())) {
                    set.lend();
                    background.start(ExchangeJob.exchange(set, Math.max(1, iteration - 1), VersionProbe.UNKNOWN));
                }
            }
        } finally {
            turn.unlock(mine);
        }
    }

    @Override
    public final void resumeAfterKill(boolean maps, IOException reason) throws IOException {
        prepare(true, maps, Cancellation.NONE);
        background.awaitEnd(Cancellation.NONE);
        for (int i = 0; i < sets(); i++) {
            set(i).clearGradient();
        }
        rollback = reason;
    }

    @Override
    public final long round() {
        return round;
    }

    @Override
    public final WeightsInUse weightsInUse() {
        BufferSet now = active();
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
            closeSets();
        } finally {
            turn.unlock(mine);
        }
    }

    /** Frees the memory of the sets. The caller holds {@code turn}. */
    protected void closeSets() {
        inUse.alone(BufferSet::closeUnlessLent);
    }
}
