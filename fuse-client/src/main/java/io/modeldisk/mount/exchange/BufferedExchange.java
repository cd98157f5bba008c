package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.platform.cancellation.CancellableLock;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An exchange with local buffers for weights and gradients. A {@link BackgroundExchange} exchanges a buffer set with the shards.
 * Reads and writes use the active set, and wait while this set is lent to an exchange.
 *
 * <p><b>One set</b> (sync): an fsync pushes the gradient, waits until the shards have aggregated it, pulls the whole model and
 * returns. If the push fails, the next fsync pushes only the blocks that the shards have not acknowledged. If such a block had
 * reached its shard, the shard still counts it only once (see {@link RemoteModel#push}). After a failed pull, the next read pulls
 * again.
 *
 * <p><b>Two sets</b> (overlap): the learner computes on one set while the other set is exchanged (iRDMA, section IV.B). An fsync
 * waits for the exchange that the previous fsync started, swaps the two sets, starts the next exchange and returns. Iterations
 * are numbered from 1 at the open. Iterations 1 and 2 use the weights that were pulled at the open. While iteration <i>k</i> ≥ 2
 * computes, the gradient of iteration <i>k</i> − 1 is pushed, and the weights of iteration <i>k</i> + 1 are pulled, each block
 * after its gradient. In bsp, iteration <i>k</i> ≥ 2 thus uses the weights after exactly <i>k</i> − 2 rounds since the open: one
 * round less than with one set. close(2) waits until the push has ended, and reports a failure of the push. After the learner has
 * closed the model or died, a failed push is not repeated, and a push in progress is cancelled after 5 s. The rest of the
 * gradient is then lost, and an error is logged.
 *
 * <p><b>Interrupts.</b> An interrupted request stops waiting, but its exchange continues. If the process repeats the request, the
 * new request waits for the same exchange. An open starts the pull of the weights without waiting. The first read waits for this
 * pull.
 *
 * <p><b>Gradients.</b> In a round, the shards never mix blocks of two gradients of this learner; see {@link OutgoingGradient}.
 * After a failed or interrupted fsync, the next fsync must push the same gradient, or the learner {@linkplain #drop drops} the
 * rest.
 *
 * <p><b>Shards that go back or forget.</b> A shard can go back to earlier weights, or forget the learner in the middle of a
 * gradient. The fsync in progress or the next fsync then discards the gradients and starts to pull the weights, and the learner
 * continues as after an open. With {@link OnRollback#FAIL}, this fsync fails.
 */
public final class BufferedExchange implements Exchange {
    /** The maximum time for which the last push of a learner continues after the learner has closed the model. */
    static final long DRAIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private static final Logger LOG = LogManager.getLogger(BufferedExchange.class);

    private final RemoteModel model;
    private final long bytes;
    private final OnRollback onRollback;
    private final ExchangeCounters counters = new ExchangeCounters();
    private final PullScheduler scheduler;
    private final BufferSets sets;
    private final BackgroundExchange background;
    private final ForegroundExchange foreground;
    private final PreviousExchange previous;
    private final DiscardedGradients discarded;
    private final IterationTimes times;
    private Consumer<Cancellation> milestones = request -> {};

    /** Held by one open, fsync or close at a time. */
    private final CancellableLock turn = new CancellableLock();
    private final LearnerState learner = new LearnerState();

    /** Creates an exchange with one or two sets. */
    BufferedExchange(boolean twoSets, RemoteModel model, ExchangeSettings settings) {
        this.model = model;
        this.bytes = LogicalBlock.up(model.trainBytes());
        this.onRollback = settings.onRollback();
        this.scheduler = new PullScheduler(settings.trace().clock());
        this.times = new IterationTimes(settings.trace(), counters, scheduler);
        this.sets = new BufferSets(twoSets, bytes, settings.buffers());
        this.background = new BackgroundExchange(model, new Pacing(twoSets, model, settings, scheduler, counters),
            new ExchangeTimes(counters, scheduler, twoSets, settings.trace(), model.arrivals()), counters,
            settings.trace().clock());
        this.foreground = new ForegroundExchange(model, background, sets);
        this.previous = new PreviousExchange(sets, background);
        this.discarded = new DiscardedGradients(model, onRollback, counters, sets, background, foreground, learner);
    }

    @Override
    public void prepare(boolean writes, Cancellation cancellation) throws IOException {
        prepare(writes, false, cancellation);
    }

    /**
     * Like {@link #prepare}, for a learner that maps the buffers. Each {@link #synchronize} pushes the whole gradient of the
     * active set and does not clear it. Set 0 becomes the active set. The learner is allowed to use it after {@link
     * #awaitWeights}.
     *
     * <p>If {@link #synchronize} fails for any reason other than {@link OnRollback}, the next call repeats the same iteration and
     * pushes only the blocks that the shards have not accepted yet.
     */
    public void prepareMapped(Cancellation cancellation) throws IOException {
        prepare(true, true, cancellation);
    }

    private void prepare(boolean writes, boolean maps, Cancellation cancellation) throws IOException {
        try (CancellableLock.Held _ = turn.exclusive(cancellation)) {
            // The previous open might have started a pull that is no longer needed.
            background.cancelPull();
            background.awaitEnd(cancellation);
            foreground.forget();
            background.start(sets.lendForOpen(model, writes, maps, cancellation));
            learner.opened(writes, maps, writes ? model.nextRound() : 0);
            times.computationBegins(writes);
        }
    }

    /** Returns the number of buffer sets. */
    public int sets() {
        return sets.count();
    }

    /** Returns the number of the active set, which the learner uses until the next {@link #synchronize}. */
    public int activeSet() {
        return sets.active().number();
    }

    /** Returns the number of calls of {@link #synchronize} that have succeeded since the learner joined. */
    public long iterations() {
        return learner.iteration - 1;
    }

    /**
     * Returns a buffer of a set. Allocates the buffer if it does not exist yet. The buffer then exists until {@link #close}, or
     * until a learner leaves while an exchange that could not be stopped still uses the buffer.
     *
     * @param number the number of the set, from 0
     * @param gradient true for the buffer of the gradient, false for the buffer of the weights
     */
    public DataMemory buffer(int number, boolean gradient, Cancellation cancellation) throws IOException {
        BufferSet now = sets.set(number);
        boolean exists = (gradient ? now.gradient() : now.weights()) != null;
        if (exists && now.number() == number) {
            return now.show(gradient);
        }
        try (CancellableLock.Held _ = turn.exclusive(cancellation)) {
            BufferSet set = sets.set(number);
            set.allocate(model, gradient);
            return set.show(gradient);
        }
    }

    @Override
    public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
        while (!read(request, offset, lengthBytes)) {
            awaitWeights(request.cancellation());
        }
    }

    private boolean read(DataRequest request, long offset, int lengthBytes) throws IOException {
        times.copies().begins();
        try {
            return sets.read(offset, lengthBytes, request);
        } finally {
            times.copies().ends();
        }
    }

    @Override
    public void write(long offset, int lengthBytes, DataRequest request) throws IOException {
        while (!write(request, offset, lengthBytes)) {
            background.awaitEnd(request.cancellation());
        }
    }

    private boolean write(DataRequest request, long offset, int lengthBytes) throws IOException {
        times.copies().begins();
        try {
            return sets.write(offset, lengthBytes, request);
        } finally {
            times.copies().ends();
        }
    }

    /**
     * Waits until the weights can be read. For a learner that maps the weights, this method must be called once after {@link
     * #prepareMapped}.
     */
    public void awaitWeights(Cancellation cancellation) throws IOException {
        try (CancellableLock.Held _ = turn.exclusive(cancellation)) {
            if (sets.active().isLent()) {
                background.awaitEnd(cancellation);
            }
            if (!sets.active().isReadable()) {
                discarded.pullWeights(cancellation);
            }
            times.computationBegins(learner.learning);
            milestone(cancellation);
        }
    }

    @Override
    public void synchronize(Cancellation cancellation) throws IOException {
        long calledNs = times.fsyncCalled();
        try (CancellableLock.Held _ = turn.exclusive(cancellation)) {
            synchronizeAlone(calledNs, cancellation);
        } finally {
            times.fsyncReturns();
        }
    }

    private void synchronizeAlone(long calledNs, Cancellation cancellation) throws IOException {
        try {
            cancellation.keep();
            checkWeights(cancellation);
            if (sets.areTwo()) {
                startExchange(calledNs, cancellation);
            } else {
                exchangeAndWait(calledNs, cancellation);
            }
        } catch (IOException e) {
            savedStateIsOld();
            if (learner.unfinished) {
                foreground.rememberGradient();
            }
            counters.failed(e);
            discarded.startOver(e, times, cancellation);
            if (learner.mapped) {
                // The learner continues with the next iteration, as after an fsync that has succeeded.
                swapIfTwo(cancellation);
                learner.iteration++;
            }
        }
    }

    /** Ends the iteration if there is one set: exchanges this set, and waits until the exchange has ended. */
    private void exchangeAndWait(long calledNs, Cancellation cancellation) throws IOException {
        foreground.checkSameGradient();
        if (!foreground.repeatsInterrupted(true)) {
            iterationEnds(calledNs);
        }
        learner.checkNotBack();
        try {
            foreground.exchange(learner.iteration, cancellation);
        } catch (NonFiniteGradientException e) {
            dropActive();
            throw e;
        }
        nextIteration();
        learner.round = model.nextRound();
        times.computationBegins(learner.learning);
        milestone(cancellation);
    }

    /**
     * Ends the iteration if there are two sets: waits for the exchange of the other set, swaps the sets, and starts an exchange.
     */
    private void startExchange(long calledNs, Cancellation cancellation) throws IOException {
        iterationEnds(calledNs);
        learner.checkNotBack();
        previous.await(learner.iteration, cancellation);
        // Another thread might have written a gradient during the wait.
        learner.pushing = sets.active().outgoing().isDirty();
        swapIfTwo(cancellation);
        BufferSet ended = sets.other();
        ended.lend();
        ExchangeJob job = new ExchangeJob(ended, learner.iteration, sets.active().version(), null);
        nextIteration();
        // If the learner has written a gradient, the exchange below pushes the next round. The learner then computes the
        // round after the pushed round.
        learner.round = model.nextRound() + (learner.pushing ? 1 : 0);
        // This call must precede the start of the exchange, because during the exchange, the scheduler predicts the end of this
        // computation.
        times.computationBegins(learner.learning);
        milestone(cancellation);
        background.start(job);
    }

    /** Records that the learner has called fsync. */
    private void iterationEnds(long calledNs) {
        OutgoingGradient gradient = sets.active().outgoing();
        if (learner.mapped && !learner.unfinished) {
            gradient.written(0, bytes);
        }
        times.fsyncBegins(learner.iteration, calledNs);
        learner.pushing = gradient.isDirty();
        learner.unfinished = true;
        learner.dropped = Dropped.NOTHING;
    }

    /** Ends the current iteration: the learner now has the weights of the next one. */
    private void nextIteration() {
        times.fsyncSucceeded(learner.iteration, learner.pushing, sets.active().pulledAtNs(),
            background.lastSpan());
        sets.active().outgoing().forget();
        learner.unfinished = false;
        learner.iteration++;
    }

    private void swapIfTwo(Cancellation cancellation) throws IOException {
        if (sets.areTwo()) {
            sets.swap(cancellation);
            foreground.forget();
        }
    }

    /**
     * Checks that a learner that maps the weights had valid weights in this iteration. If not, pulls the weights.
     *
     * @throws IOException if the learner had no valid weights, so its gradient is discarded
     */
    private void checkWeights(Cancellation cancellation) throws IOException {
        boolean had = sets.active().isReadable() && !learner.weightsMissed;
        if (!learner.mapped || learner.unfinished || learner.rollback != null || had) {
            return;
        }
        learner.weightsMissed = true;
        if (!sets.active().isReadable()) {
            discarded.pullWeights(cancellation);
        }
        cancellation.check();
        learner.weightsMissed = false;
        learner.checkNotBack();
        throw new IOException(
            "the weights could not be pulled after the last fsync, so the gradient is discarded; the"
                + " learner can continue from the current weights");
    }

    @Override
    public Dropped drop(Cancellation cancellation) throws IOException {
        try (CancellableLock.Held _ = turn.exclusive(cancellation)) {
            return dropAlone(cancellation);
        }
    }

    private Dropped dropAlone(Cancellation cancellation) throws IOException {
        try {
            if (!learner.learning) {
                throw new ErrnoException(Errno.ENODATA, "no process has the model open for writing");
            }
            savedStateIsOld();
            Dropped begun = discarded.giveUpBegun(learner.iteration, cancellation);
            learner.dropped = learner.dropped.and(begun.and(dropActive()));
            if (learner.mapped && !sets.active().isReadable()) {
                // A learner reads mapped weights without a request, so the read cannot wait for a pull.
                discarded.pullWeights(cancellation);
            }
            learner.checkNotBack();
            learner.round = model.nextRound();
            times.computationBegins(learner.learning);
            counters.dropped(learner.dropped);
            LOG.info("the learner has dropped a gradient: {}", learner.dropped);
            return learner.dropped;
        } catch (IOException e) {
            counters.failed(e);
            discarded.startOver(e, times, cancellation);
            return Dropped.NOTHING;
        }
    }

    /** Discards the gradient of the active set. No part of this gradient has reached the shards. */
    private long dropActive() {
        learner.unfinished = false;
        return sets.drop();
    }

    /**
     * Deletes the saved state, because it is older than an fsync that failed, or than a drop. After a kill, a process that
     * continued from this state would take the next gradient for the gradient whose push had begun.
     */
    private void savedStateIsOld() {
        if (learner.mapped) {
            milestones.accept(null);
        }
    }

    @Override
    public void refresh(Cancellation cancellation) throws IOException {
        try (CancellableLock.Held _ = turn.exclusive(cancellation)) {
            // While there is a learner, only its own fsync changes its weights.
            if (!learner.learning) {
                foreground.pull(cancellation);
            }
        }
    }

    @Override
    public void flush(Cancellation cancellation) throws IOException {
        if (!sets.areTwo()) {
            // An fsync returns only after the shards have received its gradient.
            return;
        }
        background.awaitPushed(cancellation);
        try (CancellableLock.Held _ = turn.exclusive(cancellation)) {
            if (learner.learning) {
                previous.checkPushed(onRollback);
            }
        }
    }

    @Override
    public void abandon() {
        try (CancellableLock.Held _ = turn.exclusive()) {
            learner.left();
            foreground.forget();
            if (!background.end(DRAIN_TIMEOUT_NS)) {
                LOG.error("the last exchange of a learner did not end after the learner had closed the model;"
                    + " the mount allocates new buffers");
            }
            scheduler.computationIsAbandoned();
            counters.recent.clear();
            sets.replaceLent();
            if (sets.areTwo()) {
                previous.discard(learner.iteration, counters);
            }
            long lostBytes = sets.drop();
            if (lostBytes > 0) {
                LOG.warn("a learner closed the model without a successful fsync after its last write:"
                    + " {} bytes of its gradient are lost", lostBytes);
            }
            milestones.accept(null);
        }
    }

    /** Calls the handler of milestones if the state can be saved now. */
    private void milestone(Cancellation request) {
        if (learner.mapped && learner.learning && background.hasEnded()) {
            milestones.accept(request);
        }
    }

    @Override
    public void onMilestone(Consumer<Cancellation> handler) {
        milestones = handler;
    }

    @Override
    public boolean freeze() {
        background.close();
        return background.hasEnded();
    }

    @Override
    public ExchangeImage image() {
        return new ExchangeImage(learner.image(), activeSet(), sets.image());
    }

    @Override
    public void resume(ExchangeImage image, boolean killed) throws IOException {
        try (CancellableLock.Held _ = turn.exclusive()) {
            adopt(image);
            if (killed && learner.mapped && !sets.areTwo()) {
                // With two sets, the push of the other set begins here.
                sets.active().outgoing().mayBePushed();
            }
            times.computationBegins(learner.learning);
            if (learner.learning && sets.areTwo()) {
                // With one set, nothing is resumed here, because the repeated fsync repeats the exchange.
                previous.resume(learner.iteration);
            }
        }
    }

    void adopt(ExchangeImage image) throws IOException {
        learner.resume(image.learner());
        sets.resume(image, model, times.nowNs());
    }

    @Override
    public void resumeAfterKill(boolean maps, IOException reason) throws IOException {
        prepare(true, maps, Cancellation.NONE);
        background.awaitEnd(Cancellation.NONE);
        for (int i = 0; i < sets(); i++) {
            sets.set(i).clearGradient();
        }
        learner.rollback = reason;
    }

    @Override
    public long round() {
        return learner.round;
    }

    @Override
    public WeightsInUse weightsInUse() {
        return sets.active().inUse(times.nowNs());
    }

    @Override
    public Optional<PullScheduler.Forecast> forecast() {
        return sets.areTwo() ? Optional.of(scheduler.forecast()) : Optional.empty();
    }

    @Override
    public ExchangeCounters counters() {
        return counters;
    }

    @Override
    public void close() {
        try (CancellableLock.Held _ = turn.exclusive()) {
            background.close();
            sets.close();
        }
    }
}
