package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Exchanges one buffer set with the shards at a time, beside the learner: some threads push its gradient, another pulls its
 * weights when the {@link PullScheduler} says so. A block is pulled after its own gradient was pushed, also where push and pull
 * go on at once, so that what is pulled is the same in full duplex as it is one after the other.
 *
 * <p>Thread-safe. A set that was given to {@link #start} belongs to the exchange until {@link #awaitEnd} has returned.
 */
final class BackgroundExchange implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(BackgroundExchange.class);
    private static final long CANCELLATION_POLL_NS = TimeUnit.MILLISECONDS.toNanos(5);
    // While one piece comes to its end, the next is already on its way; what a pull beside it waits for is behind no more.
    private static final int PUSHERS = 2;
    private static final long CLOSE_TIMEOUT_MS = 3_000;

    private final RemoteModel model;
    private final long bytes;
    private final PushProgress progress;
    private final PullPolicy policy;
    private final PullScheduler scheduler;
    private final ExchangeCounters counters;
    private final IterationTrace trace;
    private final VersionProbe probe;
    private final StalenessWatch staleness;
    private final boolean laterIsFresher;
    private final Thread puller = Thread.ofPlatform().name("modeldisk-pull").daemon().unstarted(this::pullAlways);
    private final Cancellation pushCancellation = new Cancellation();
    private final Cancellation pullCancellation = new Cancellation();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by the lock.
    private BufferSet set;
    private long iteration;
    private long exchanges;
    private long startedNs;
    private long pushEndedNs;
    private boolean pushToDo;
    private boolean pullToDo;
    private boolean learnerWaits;
    private boolean pullCancelled;
    private boolean started;
    private boolean closed;
    private IOException failure;
    private boolean failureTaken;

    BackgroundExchange(RemoteModel model, PullPolicy policy, PullScheduler scheduler, ExchangeCounters counters,
        IterationTrace trace) {
        this.model = model;
        this.bytes = LogicalBlocks.up(model.facts().sizeBytes());
        this.progress = new PushProgress(bytes);
        this.policy = policy;
        this.scheduler = scheduler;
        this.counters = counters;
        this.trace = trace;
        this.probe = new VersionProbe(model);
        this.staleness = new StalenessWatch(probe, counters, trace);
        // In bsp the weights after a round are the same whenever they are pulled.
        this.laterIsFresher = !model.facts().consistency().equals("bsp");
    }

    /**
     * Begins to exchange a set. No exchange may be going on.
     *
     * @param number the iteration whose gradient it is
     * @param inUse the version of the weights that the learner uses meanwhile
     */
    void start(BufferSet next, long number, long inUse) {
        lock.lock();
        try {
            if (set != null || closed) {
                throw new IllegalStateException(closed ? "the exchange is closed" : "an exchange is going on");
            }
            if (!started) {
                started = true;
                for (int i = 0; i < PUSHERS; i++) {
                    Thread.ofPlatform().name("modeldisk-push-" + i).daemon().start(this::pushAlways);
                }
                puller.start();
            }
            set = next;
            iteration = number;
            exchanges++;
            startedNs = trace.nowNs();
            progress.begin(PUSHERS, pullMayBeBeside() ? PushProgress.Cut.FINE : PushProgress.Cut.COARSE);
            pushToDo = true;
            pullToDo = true;
            learnerWaits = false;
            pullCancelled = false;
            pushCancellation.reset();
            pullCancellation.reset();
            failure = null;
            failureTaken = false;
            changed.signalAll();
            staleness.begin(inUse);
        } finally {
            lock.unlock();
        }
    }

    private boolean pullMayBeBeside() {
        return switch (policy) {
            case BESIDE_PUSH -> true;
            case AFTER_PUSH -> false;
            case ADAPTIVE -> scheduler.forecast().isDuplex();
        };
    }

    /** Waits until the exchange, if there is one, has ended: its pull no longer waits for anything but data. */
    void awaitEnd(Cancellation cancellation) throws InterruptedIOException {
        lock.lock();
        try {
            learnerWaits = true;
            changed.signalAll();
            while (pushToDo || pullToDo) {
                await(cancellation);
            }
            set = null;
        } finally {
            learnerWaits = false;
            lock.unlock();
        }
    }

    /** Waits until the gradient is with the shards, or has failed to get there. */
    void awaitPushed(Cancellation cancellation) throws InterruptedIOException {
        lock.lock();
        try {
            while (pushToDo) {
                await(cancellation);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes the reason for which the last exchange failed; null if it did not, or if the reason was taken before. */
    IOException takeFailure() {
        lock.lock();
        try {
            IOException taken = failureTaken ? null : failure;
            failureTaken = true;
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /** The reason for which the last exchange failed, also when it was taken; null if it did not. */
    IOException failure() {
        lock.lock();
        try {
            return failure;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the bubble and the pull, the push goes on. */
    void cancelPull() {
        lock.lock();
        try {
            pullCancelled = true;
            progress.stop();
            pullCancellation.cancel();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the push to end, and then for all; what takes longer than this is cancelled.
     *
     * @return whether nothing is going on any more: nobody uses the set's memory
     */
    boolean end(long timeoutMs) {
        cancelPull();
        if (!awaitIdle(timeoutMs)) {
            pushCancellation.cancel();
            if (!awaitIdle(CLOSE_TIMEOUT_MS)) {
                return false;
            }
        }
        lock.lock();
        try {
            set = null;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean awaitIdle(long timeoutMs) {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        lock.lock();
        try {
            while ((pushToDo || pullToDo) && System.nanoTime() - deadlineNs < 0) {
                changed.awaitNanos(CANCELLATION_POLL_NS);
            }
            return !pushToDo && !pullToDo;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Ends whatever goes on; false if it would not end, and the memory may still be in use. */
    boolean end() {
        pushCancellation.cancel();
        return end(0);
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        end();
        staleness.close();
    }

    private void pushAlways() {
        long done = 0;
        while (awaitPush(done)) {
            done++;
            IOException failed = null;
            try {
                for (long at = progress.take(); at >= 0; at = progress.take()) {
                    piecePushed(at, set.push(model, at, progress.end(at), pushCancellation));
                }
            } catch (IOException e) {
                failed = e;
            } catch (RuntimeException | Error e) {
                failed = defect(e);
            }
            leavePush(failed);
        }
    }

    /** Waits for an exchange after so many; false if there will be none. */
    private boolean awaitPush(long done) {
        lock.lock();
        try {
            while (exchanges == done && !closed) {
                changed.await();
            }
            return exchanges > done;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void piecePushed(long at, long pushed) {
        lock.lock();
        try {
            if (progress.pushed(at, pushed)) {
                pushEndedNs = trace.nowNs();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The last pusher waits until all is aggregated. */
    private void leavePush(IOException failed) {
        lock.lock();
        try {
            fail(failed, "push");
            if (failed != null) {
                progress.stop();
            }
        } finally {
            lock.unlock();
        }
        boolean last = progress.leave(failed != null);
        if (last) {
            IOException unsynchronized = null;
            try {
                set.synchronize(model, pushCancellation);
            } catch (IOException e) {
                unsynchronized = e;
            } catch (RuntimeException | Error e) {
                unsynchronized = defect(e);
            }
            pushEnded(unsynchronized);
        }
    }

    private void pushEnded(IOException failed) {
        lock.lock();
        try {
            if (progress.pushedBytes() > 0) {
                // What is waited for after the last byte is other learners, not the network.
                long endNs = progress.isComplete() ? pushEndedNs : trace.nowNs();
                counters.pushed(progress.pushedBytes(), endNs - startedNs);
                scheduler.pushed(endNs - startedNs);
                trace.add(Phase.PUSH, iteration, startedNs, endNs);
            }
            fail(failed, "push");
            pushToDo = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void pullAlways() {
        while (awaitPull()) {
            IOException failed = null;
            try {
                if (awaitPullStart()) {
                    pull();
                }
            } catch (IOException e) {
                failed = e;
            } catch (RuntimeException | Error e) {
                failed = defect(e);
            }
            pullEnded(failed);
        }
    }

    /** Waits for the time to pull; false if the pull is not to be. */
    private boolean awaitPullStart() throws IOException {
        lock.lock();
        try {
            while (!progress.isStopped()) {
                long delayNs = pullDelayNs();
                if (delayNs <= 0) {
                    long nowNs = trace.nowNs();
                    boolean pushed = progress.isComplete();
                    counters.bubble(pushed ? nowNs - pushEndedNs : 0);
                    if (pushed) {
                        trace.add(Phase.BUBBLE, iteration, pushEndedNs, nowNs);
                    }
                    return true;
                }
                changed.awaitNanos(delayNs);
            }
            return false;
        } catch (InterruptedException e) {
            throw interrupted();
        } finally {
            lock.unlock();
        }
    }

    /** How long the pull is to wait if nothing happens meanwhile. Caller holds the lock. */
    private long pullDelayNs() {
        boolean pushed = progress.isComplete();
        return switch (policy) {
            case BESIDE_PUSH -> 0;
            case AFTER_PUSH -> pushed ? 0 : Long.MAX_VALUE;
            case ADAPTIVE -> learnerWaits || pushed && !laterIsFresher ? 0 : scheduler.delayNs();
        };
    }

    private void pull() throws IOException {
        long startNs = trace.nowNs();
        // Beside a push there is no time to ask.
        set.pullBegins(startNs, (progress.isComplete() ? probe.sample(startNs) : probe.latest()).version());
        WeightsPull pull = new WeightsPull(model, set.weights(), bytes, progress, pullCancellation, trace::nowNs);
        if (pull.run()) {
            set.pullEnds();
            long endNs = trace.nowNs();
            counters.pulled(bytes, endNs - startNs);
            scheduler.pulled(pull.busyNs());
            trace.add(Phase.PULL, iteration, startNs, endNs);
        }
    }

    private boolean awaitPull() {
        lock.lock();
        try {
            while (!pullToDo && !closed) {
                changed.await();
            }
            return pullToDo;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void pullEnded(IOException failed) {
        lock.lock();
        try {
            if (!pullCancelled) {
                fail(failed, "pull");
            }
            pullToDo = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Keeps the first reason. Caller holds the lock. */
    private void fail(IOException failed, String what) {
        if (failed != null && failure == null) {
            failure = failed;
            counters.failed(failed);
            LOG.warn("the {} of iteration {} failed, the next fsync will say so: {}", what, iteration,
                failed.getMessage());
            changed.signalAll();
        }
    }

    private void await(Cancellation cancellation) throws InterruptedIOException {
        if (cancellation.isCancelled()) {
            throw new InterruptedIOException("interrupted while waiting for an exchange with the shards");
        }
        try {
            changed.awaitNanos(CANCELLATION_POLL_NS);
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private static IOException defect(Throwable e) {
        LOG.error("an exchange failed because of an error in modeldisk: {}", e.toString(), e);
        return new IOException("an error in modeldisk: " + e, e);
    }

    private static InterruptedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("the thread was interrupted");
    }
}
