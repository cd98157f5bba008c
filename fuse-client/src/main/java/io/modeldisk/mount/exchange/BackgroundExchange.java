package io.modeldisk.mount.exchange;

import io.modeldisk.mount.exchange.ExchangeProgress.Cut;
import io.modeldisk.mount.exchange.ExchangeProgress.Pull;
import io.modeldisk.mount.exchange.ExchangeProgress.Push;
import io.modeldisk.mount.exchange.ExchangeProgress.Step;
import io.modeldisk.mount.exchange.ExchangeProgress.StepKind;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Exchanges one buffer set at a time with the shards, in worker threads. Pushes the gradient, and pulls the weights when the
 * {@link Pacing} allows a pull. Each worker gets the next step from {@link ExchangeProgress} and executes the step without
 * holding the lock of this object.
 *
 * <p>An exchange owns the buffer sets of its {@link ExchangeJob} until it ends. Thread-safe.
 */
final class BackgroundExchange implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(BackgroundExchange.class);
    // Two of the four workers can push while the other two pull.
    private static final int WORKERS = 4;
    private static final long CANCEL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(3);

    private final RemoteModel model;
    private final long bytes;
    private final Pacing pacing;
    private final ExchangeCounters counters;
    private final NanoClock clock;
    private final Cancellation pushCancellation = new Cancellation();
    private final Cancellation pullCancellation = new Cancellation();
    private final ScopedLock lock = new ScopedLock();
    // The condition {@code work} wakes workers when a step can start.
    // The condition {@code ended} wakes callers when a push or a pull has ended.
    private final Condition work = lock.newCondition();
    private final Condition ended = lock.newCondition();
    private final Cancellation.Waiter wakeCallers = Cancellation.signalling(lock, ended);

    // Guarded by {@code lock}.
    private final ExchangeProgress progress;
    private final ExchangeTimes times;
    private ExchangeJob job;
    private boolean jobEnded;
    private boolean learnerWaits;
    private boolean pullCancelled;
    private IOException failure;
    private boolean failureTaken;
    private boolean workersStarted;
    private boolean closed;

    BackgroundExchange(RemoteModel model, Pacing pacing, ExchangeTimes times, ExchangeCounters counters,
        NanoClock clock) {
        this.model = model;
        this.bytes = LogicalBlock.up(model.trainBytes());
        this.progress = new ExchangeProgress(bytes, model.facts().as(model.dtype()).blockSizeBytes());
        this.pacing = pacing;
        this.counters = counters;
        this.times = times;
        this.clock = clock;
    }

    /**
     * Starts an exchange.
     *
     * @throws IllegalStateException if the previous exchange has not ended, or this object is closed
     */
    void start(ExchangeJob next) {
        try (ScopedLock.Held _ = lock.hold()) {
            if (!progress.hasEnded() || closed) {
                throw new IllegalStateException(closed
                    ? "an exchange cannot start after close()"
                    : "an exchange cannot start before the previous exchange has ended");
            }
            if (!workersStarted) {
                workersStarted = true;
                for (int i = 0; i < WORKERS; i++) {
                    ThreadName.EXCHANGE.builder(i).start(new Worker());
                }
            }
            job = next;
            jobEnded = false;
            if (next.pushes()) {
                next.set().outgoing().pushBegins();
            }
            progress.begin(next.pushes(), model.facts().checksGradients() && !next.set().outgoing().isJudged(),
                next.copy() != null, pacing.mayPullBesidePush() ? Cut.FINE : Cut.COARSE);
            times.begin();
            learnerWaits = false;
            pullCancelled = false;
            pushCancellation.reset();
            pullCancellation.reset();
            failure = null;
            failureTaken = false;
            work.signalAll();
        }
    }

    /**
     * Waits until the current exchange has ended. Returns immediately if no exchange is in progress. If the scheduler is still
     * delaying the pull, this call starts the pull immediately.
     *
     * @throws CancelledException if the wait was cancelled; the exchange continues
     */
    void awaitEnd(Cancellation cancellation) throws InterruptedIOException {
        await(cancellation, progress::hasEnded, true);
    }

    /**
     * Waits until the shards have received the gradient, or the push has failed.
     *
     * @throws CancelledException if the wait was cancelled; the exchange continues
     */
    void awaitPushed(Cancellation cancellation) throws InterruptedIOException {
        await(cancellation, () -> progress.push() == Push.ENDED, false);
    }

    private void await(Cancellation cancellation, BooleanSupplier condition, boolean hurry)
        throws InterruptedIOException {
        cancellation.register(wakeCallers);
        lock.lock();
        try {
            while (!condition.getAsBoolean()) {
                if (cancellation.isCancelled()) {
                    throw new CancelledException("the call was interrupted while it waited for the shards");
                }
                if (hurry && !learnerWaits) {
                    learnerWaits = true;
                    work.signalAll();
                }
                ended.await();
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for an exchange with the shards");
        } finally {
            learnerWaits &= !hurry;
            lock.unlock();
            cancellation.unregister(wakeCallers);
        }
    }

    /**
     * Returns the failure of the last exchange, only once. Returns null if the exchange succeeded, or if an earlier call has
     * returned the failure.
     */
    IOException takeFailure() {
        try (ScopedLock.Held _ = lock.hold()) {
            IOException taken = failureTaken ? null : failure;
            failureTaken = true;
            return taken;
        }
    }

    /** Returns the failure of the last exchange, or null if the exchange succeeded. */
    IOException failure() {
        try (ScopedLock.Held _ = lock.hold()) {
            return failure;
        }
    }

    /** Cancels the pull. The push continues. */
    void cancelPull() {
        try (ScopedLock.Held _ = lock.hold()) {
            pullCancelled = true;
            progress.stopPull();
            pullCancellation.cancel();
            exchangeStopped();
        }
    }

    /** Returns the times of the last exchange that has pulled weights; null if there was none. */
    ExchangeSpan lastSpan() {
        try (ScopedLock.Held _ = lock.hold()) {
            return times.lastSpan();
        }
    }

    /** Returns whether no exchange is in progress. */
    boolean hasEnded() {
        try (ScopedLock.Held _ = lock.hold()) {
            return progress.hasEnded();
        }
    }

    private void cancelPush() {
        try (ScopedLock.Held _ = lock.hold()) {
            progress.stop();
            pushCancellation.cancel();
            exchangeStopped();
        }
    }

    /** Gives the buffer sets back if the exchange has ended. Wakes all waiting threads. The caller holds {@code lock}. */
    private void exchangeStopped() {
        if (job != null && progress.hasEnded()) {
            exchangeEnded();
        }
        work.signalAll();
        ended.signalAll();
    }

    /**
     * Gives the buffer sets back, only once. Before that, clears the marks of the pushed blocks, because the learner can write
     * the next gradient as soon as it has the sets.
     */
    private void exchangeEnded() {
        if (!jobEnded) {
            jobEnded = true;
            if (failure == null && job.pushes() && job.set().isFresh()) {
                job.set().outgoing().exchanged();
            }
            job.giveBack();
        }
    }

    /**
     * Cancels the pull and waits for the push. If the push has not completed within the timeout, cancels the push too.
     *
     * @return whether the exchange has ended; if not, the exchange might still use the memory of its buffer sets
     */
    boolean end(long pushTimeoutNs) {
        cancelPull();
        if (awaitEndUntil(clock.nanoTime() + pushTimeoutNs)) {
            return true;
        }
        cancelPush();
        return awaitEndUntil(clock.nanoTime() + CANCEL_TIMEOUT_NS);
    }

    private boolean awaitEndUntil(long deadlineNs) {
        try (ScopedLock.Held _ = lock.hold()) {
            return clock.awaitUntil(ended, progress::hasEnded, deadlineNs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Cancels the exchange and stops the workers. An exchange that does not end within 3 s keeps its buffer sets. */
    @Override
    public void close() {
        try (ScopedLock.Held _ = lock.hold()) {
            closed = true;
            work.signalAll();
        }
        end(0);
    }

    /** Waits until a step can start and stores the step in {@code step}. Returns the job of the step, or null after close. */
    private ExchangeJob awaitStep(Step step) throws InterruptedException {
        try (ScopedLock.Held _ = lock.hold()) {
            while (true) {
                long delayNs = progress.pull() == Pull.WAITING ? pullDelayNs() : Pacing.NEVER;
                if (delayNs <= 0) {
                    progress.pullIsDue();
                }
                if (progress.next(step)) {
                    stepBegins(step);
                    return job;
                }
                if (closed && progress.hasEnded()) {
                    return null;
                }
                if (delayNs > 0 && delayNs < Pacing.NEVER) {
                    clock.awaitUntil(work, clock.nanoTime() + delayNs);
                } else {
                    work.await();
                }
            }
        }
    }

    private long pullDelayNs() {
        return job.pushes() ? pacing.pullDelayNs(progress.push(), learnerWaits) : 0;
    }

    private void stepBegins(Step step) {
        switch (step.kind) {
            case BEGIN_PULL -> {
                times.pullBegins(job, progress.isPushed());
                step.startedNs = times.pullStartedNs();
                step.pushed = progress.isPushed();
            }
            case PULL -> times.pieceBegins();
            default -> {
            }
        }
    }

    /**
     * Records that a worker has ended a step.
     *
     * @param failed null if the step succeeded
     * @return whether this step completed the search for NaN and infinity, and the gradient must be refused
     */
    private boolean stepEnded(Step step, long pushedBytes, IOException failed) {
        try (ScopedLock.Held _ = lock.hold()) {
            Push pushBefore = progress.push();
            Pull pullBefore = progress.pull();
            boolean pushedBefore = progress.isPushed();
            progress.ended(step, pushedBytes, failed != null);
            boolean refused = progress.isToBeJudged() && !judge();
            if (failed != null) {
                stepFailed(step, failed);
            }
            if (progress.isPushed() && !pushedBefore) {
                times.allPushed();
            }
            if (step.kind == StepKind.PULL) {
                times.pieceEnds();
            }
            boolean pushChanged = progress.push() != pushBefore;
            boolean pullChanged = progress.pull() != pullBefore;
            if (pushChanged && progress.push() == Push.ENDED) {
                times.pushEnded(job, progress);
            }
            if (pullChanged && pullBefore == Pull.MOVING && failed == null) {
                job.set().pullEnds();
                times.pulled(job, bytes);
            }
            if (pushChanged || pullChanged) {
                if (progress.hasEnded()) {
                    exchangeEnded();
                }
                ended.signalAll();
            }
            if (pushChanged || pullChanged || progress.pull() == Pull.MOVING) {
                work.signalAll();
            }
            return refused;
        }
    }

    /**
     * Decides whether to push the gradient. Must be called after the search of the whole gradient for NaN and infinity. Returns
     * false if the gradient is refused. The caller holds {@code lock}.
     */
    private boolean judge() {
        boolean finite = progress.isFinite();
        boolean pushes = finite || model.facts().skipsNonFinite();
        if (pushes) {
            job.set().outgoing().judge(finite);
        } else if (failure == null) {
            failure = new NonFiniteGradientException(job.iteration());
        }
        if (!finite) {
            LOG.warn("the gradient of iteration {} has a NaN or an infinity, so it is {} (--non-finite)",
                job.iteration(), pushes ? "left out of its round" : "refused");
        }
        times.checked();
        progress.judged(pushes);
        return pushes;
    }

    /**
     * Stores the first failure of the exchange. Cancels the pull, because the weights of a failed exchange are not used. The
     * caller holds {@code lock}.
     */
    private void stepFailed(Step step, IOException failed) {
        boolean isPush = step.kind == StepKind.CHECK || step.kind == StepKind.PUSH || step.kind == StepKind.SYNCHRONIZE;
        if (step.kind != StepKind.OBSERVE && failure == null && (isPush || !pullCancelled)) {
            failure = failed;
            pullCancellation.cancel();
            if (closed) {
                return;
            }
            counters.failed(failed);
            LOG.warn("the {} of {} failed: {}", isPush ? "push" : "pull",
                job.pushes() ? "iteration " + job.iteration() : "the weights",
                failed.getMessage());
        }
    }

    /** Executes steps in a thread, without holding the lock of the exchange. */
    private final class Worker implements Runnable {
        private final Step step = new Step();

        @Override
        public void run() {
            try {
                for (ExchangeJob job = awaitStep(step); job != null; job = awaitStep(step)) {
                    long pushedBytes = 0;
                    IOException failure = null;
                    try {
                        pushedBytes = perform(job);
                    } catch (IOException e) {
                        failure = e;
                    } catch (RuntimeException | Error e) {
                        LOG.error("a step of an exchange failed because of an error in modeldisk: {}", e.toString(), e);
                        failure = new IOException("the exchange failed because of an error in modeldisk: " + e, e);
                    }
                    if (stepEnded(step, pushedBytes, failure)) {
                        model.countNonFinite();
                    }
                }
            } catch (InterruptedException | RuntimeException | Error e) {
                LOG.error("thread {} stops because of an error in modeldisk", Thread.currentThread().getName(), e);
            }
        }

        /** Executes the step. Returns the number of bytes that the step has pushed. */
        private long perform(ExchangeJob job) throws IOException {
            BufferSet set = job.set();
            switch (step.kind) {
                case CHECK ->
                    step.finite = set.outgoing().isFinite(model, step.from, Math.min(step.end, model.trainBytes()));
                case PUSH -> {
                    return set.outgoing().push(model, step.from, step.end, pushCancellation);
                }
                case SYNCHRONIZE -> set.outgoing().synchronize(model, pushCancellation);
                case BEGIN_PULL -> set.pullBegins(step.startedNs, pacing.versionBeforePull(step.pushed));
                case PULL -> model.pull(step.from, set.weights(), step.from, step.end - step.from, pullCancellation);
                case COPY -> job.copy().copyWeights(set);
                case OBSERVE -> pacing.weightsInUse(job.versionInUse());
            }
            return 0;
        }
    }
}
