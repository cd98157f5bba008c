package io.modeldisk.mount.exchange;

import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.mount.trace.Phase;
import io.modeldisk.protocol.striping.Cancellation;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Exchanges one buffer set with the shards at a time, beside the learner: one thread pushes its gradient, another pulls its
 * weights when the {@link PullScheduler} says so. A block is pulled after its own gradient was pushed, also where push and pull
 * go on at once, so that what is pulled is the same in full duplex as it is one after the other.
 *
 * <p>Thread-safe. A set that was given to {@link #start} belongs to the exchange until {@link #awaitEnd} has returned.
 */
final class BackgroundExchange implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(BackgroundExchange.class);
    private static final long CANCELLATION_POLL_NS = TimeUnit.MILLISECONDS.toNanos(5);
    // A pull can begin when the first of these is pushed; each costs a moment in which nothing is in flight.
    private static final int PIECES = 32;
    private static final long MIN_PIECE_BYTES = 4 << 20;
    private static final long CLOSE_TIMEOUT_MS = 3_000;

    private final RemoteModel model;
    private final long bytes;
    private final long pieceBytes;
    private final PullPolicy policy;
    private final PullScheduler scheduler;
    private final ExchangeCounters counters;
    private final IterationTrace trace;
    private final VersionProbe probe;
    private final boolean laterIsFresher;
    private final Thread pusher = Thread.ofPlatform().name("modeldisk-push").daemon().unstarted(this::pushAlways);
    private final Thread puller = Thread.ofPlatform().name("modeldisk-pull").daemon().unstarted(this::pullAlways);
    private final Cancellation pushCancellation = new Cancellation();
    private final Cancellation pullCancellation = new Cancellation();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by the lock.
    private BufferSet set;
    private long versionInUse = VersionProbe.UNKNOWN;
    private long iteration;
    private long pushedTo;
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
        long part = (bytes / PIECES + MIN_PIECE_BYTES - 1) / MIN_PIECE_BYTES * MIN_PIECE_BYTES;
        this.pieceBytes = Math.clamp(part, MIN_PIECE_BYTES, SyncExchange.PUSH_BYTES);
        this.policy = policy;
        this.scheduler = scheduler;
        this.counters = counters;
        this.trace = trace;
        this.probe = new VersionProbe(model);
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
                pusher.start();
                puller.start();
            }
            set = next;
            iteration = number;
            versionInUse = inUse;
            pushedTo = 0;
            pushToDo = true;
            pullToDo = true;
            learnerWaits = false;
            pullCancelled = false;
            pushCancellation.reset();
            pullCancellation.reset();
            failure = null;
            failureTaken = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
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
    }

    private void pushAlways() {
        while (awaitWork(true)) {
            IOException failed = null;
            try {
                push();
            } catch (IOException e) {
                failed = e;
            } catch (RuntimeException | Error e) {
                failed = defect(e);
            }
            ended(true, failed);
        }
    }

    private void push() throws IOException {
        long startNs = trace.nowNs();
        long pushed = 0;
        try {
            for (long at = 0; at < bytes; at += pieceBytes) {
                long end = Math.min(bytes, at + pieceBytes);
                pushed += set.push(model, at, end, pushCancellation);
                pushedTo(end);
            }
            set.synchronize(model, pushCancellation);
        } finally {
            long endNs = trace.nowNs();
            if (pushed > 0) {
                counters.pushed(pushed, endNs - startNs);
                scheduler.pushed(endNs - startNs);
                trace.add(Phase.PUSH, iteration, startNs, endNs);
            }
        }
    }

    private void pushedTo(long end) {
        lock.lock();
        try {
            pushedTo = end;
            if (end == bytes) {
                pushEndedNs = trace.nowNs();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void pullAlways() {
        while (awaitWork(false)) {
            IOException failed = null;
            try {
                probeStaleness();
                if (awaitPullStart()) {
                    pull();
                }
            } catch (IOException e) {
                failed = e;
            } catch (RuntimeException | Error e) {
                failed = defect(e);
            }
            ended(false, failed);
        }
    }

    private void probeStaleness() {
        double rounds = probe.sample(trace.nowNs()).roundsSince(versionInUse);
        if (!Double.isNaN(rounds)) {
            counters.staleness(rounds);
        }
    }

    /** Waits for the time to pull; false if the pull is not to be. */
    private boolean awaitPullStart() throws IOException {
        lock.lock();
        try {
            while (!isPullOff()) {
                long delayNs = pullDelayNs();
                if (delayNs <= 0) {
                    long nowNs = trace.nowNs();
                    boolean pushed = pushedTo == bytes;
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

    /** Caller holds the lock. */
    private boolean isPullOff() {
        return pullCancelled || failure != null || closed;
    }

    /** How long the pull is to wait if nothing happens meanwhile. Caller holds the lock. */
    private long pullDelayNs() {
        boolean pushed = pushedTo == bytes;
        return switch (policy) {
            case BESIDE_PUSH -> 0;
            case AFTER_PUSH -> pushed ? 0 : Long.MAX_VALUE;
            case ADAPTIVE -> learnerWaits || pushed && !laterIsFresher ? 0 : scheduler.delayNs();
        };
    }

    private void pull() throws IOException {
        long startNs = trace.nowNs();
        long version = probe.sample(startNs).version();
        long transferNs = 0;
        long at = 0;
        set.pullBegins(startNs, version);
        long beganNs = 0;
        while (at < bytes) {
            long to = awaitPushedBeyond(at);
            if (to < 0) {
                return;
            }
            long pieceNs = trace.nowNs();
            beganNs = at == 0 ? pieceNs : beganNs;
            model.pull(at, set.weights(), at, to - at, pullCancellation);
            transferNs += trace.nowNs() - pieceNs;
            at = to;
        }
        set.pullEnds();
        counters.pulled(bytes, transferNs);
        scheduler.pulled(transferNs);
        trace.add(Phase.PULL, iteration, beganNs, trace.nowNs());
    }

    /** Up to where the gradient has been pushed, further than this; -1 if the pull is not to go on. */
    private long awaitPushedBeyond(long at) throws IOException {
        lock.lock();
        try {
            while (pushedTo <= at && !isPullOff()) {
                changed.await();
            }
            return isPullOff() ? -1 : pushedTo;
        } catch (InterruptedException e) {
            throw interrupted();
        } finally {
            lock.unlock();
        }
    }

    private boolean awaitWork(boolean push) {
        lock.lock();
        try {
            while (!(push ? pushToDo : pullToDo) && !closed) {
                changed.await();
            }
            return push ? pushToDo : pullToDo;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void ended(boolean push, IOException failed) {
        lock.lock();
        try {
            if (push) {
                pushToDo = false;
            } else {
                pullToDo = false;
            }
            if (failed != null && failure == null && !(pullCancelled && !push)) {
                failure = failed;
                counters.failed(failed);
                LOG.warn("the {} of iteration {} failed, the next fsync will say so: {}", push ? "push" : "pull",
                    iteration, failed.getMessage());
            }
            changed.signalAll();
        } finally {
            lock.unlock();
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
