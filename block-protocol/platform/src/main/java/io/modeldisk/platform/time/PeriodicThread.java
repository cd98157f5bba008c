package io.modeldisk.platform.time;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ScopedLock.Held;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A daemon thread that runs a task periodically until the thread is closed. The thread continues after every failure of the task,
 * even after an {@link OutOfMemoryError}. Only the first of several failures in a row is logged. Thread-safe.
 */
public final class PeriodicThread implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(PeriodicThread.class);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

    private final NanoClock clock;
    private final long periodNs;
    private final Runnable task;
    private final ScopedLock lock = new ScopedLock();
    /** Signalled when {@link #stopped}, {@link #woken} or {@link #ended} is set. */
    private final Condition changed = lock.newCondition();
    private final Thread thread;
    private boolean stopped;
    private boolean woken;
    private boolean ended;
    private boolean failing;

    /**
     * Creates a thread that is not started yet.
     *
     * @param builder the builder of the thread, with the thread's name
     * @param period the time from the end of one run to the start of the next run
     */
    public PeriodicThread(Thread.Builder builder, NanoClock clock, Duration period, Runnable task) {
        this.clock = clock;
        this.periodNs = period.toNanos();
        this.task = task;
        this.thread = builder.unstarted(this::run);
    }

    /** Starts the thread. The first run begins one period later. Returns this object. */
    public PeriodicThread start() {
        thread.start();
        return this;
    }

    /** Starts the next run at once, or after the run in progress. */
    public void wake() {
        try (Held _ = lock.hold()) {
            woken = true;
            changed.signalAll();
        }
    }

    private void run() {
        try {
            while (awaitNext()) {
                runOnce();
            }
        } finally {
            lock.lock();
            ended = true;
            changed.signalAll();
            lock.unlock();
        }
    }

    private void runOnce() {
        try {
            task.run();
            failing = false;
        } catch (Throwable e) {
            report(e);
        }
    }

    private void report(Throwable failure) {
        if (failing) {
            return;
        }
        failing = true;
        try {
            LOG.error("the task of the thread {} failed; the thread continues", thread.getName(), failure);
        } catch (Throwable e) {
            // The failure could not be logged, for example because of a lack of memory. The next failure is logged instead.
            failing = false;
        }
    }

    /** Waits until the next run is due. Returns false if the thread was closed. */
    private boolean awaitNext() {
        lock.lock();
        try {
            long nextNs = clock.nanoTime() + periodNs;
            while (!stopped && !woken && clock.nanoTime() - nextNs < 0) {
                clock.awaitUntil(changed, nextNs);
            }
            woken = false;
            return !stopped;
        } catch (InterruptedException e) {
            // An interrupt does not stop the thread. Only close() stops the thread.
            return !stopped;
        } finally {
            lock.unlock();
        }
    }

    /** Stops the thread. Waits at most 5 s until a run in progress has completed. */
    @Override
    public void close() {
        lock.lock();
        try {
            stopped = true;
            changed.signalAll();
            if (thread != Thread.currentThread() && thread.getState() != Thread.State.NEW) {
                awaitEnd();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether no run is in progress or will follow: the thread has ended, or was closed before its start. */
    public boolean hasEnded() {
        try (Held _ = lock.hold()) {
            return ended || stopped && thread.getState() == Thread.State.NEW;
        }
    }

    private void awaitEnd() throws InterruptedException {
        long deadlineNs = clock.nanoTime() + STOP_TIMEOUT.toNanos();
        while (!ended && clock.nanoTime() - deadlineNs < 0) {
            clock.awaitUntil(changed, deadlineNs);
        }
        if (!ended) {
            LOG.warn("the thread {} is still running {} s after it was closed", thread.getName(),
                STOP_TIMEOUT.toSeconds());
        }
    }
}
