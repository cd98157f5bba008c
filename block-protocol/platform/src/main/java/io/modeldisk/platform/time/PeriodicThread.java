package io.modeldisk.platform.time;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A daemon thread that runs a task periodically until it is closed. No failure of the task ends it, an
 * {@link OutOfMemoryError} included: the first of several in a row is logged. Thread-safe.
 */
public final class PeriodicThread implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(PeriodicThread.class);

    private final NanoClock clock;
    private final long periodNs;
    private final Runnable task;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition stop = lock.newCondition();
    private final Thread thread;
    private boolean stopped;
    private boolean failing;

    /**
     * A thread that is not started yet.
     *
     * @param role the thread's name
     * @param period the time from the end of one run to the start of the next
     */
    public PeriodicThread(String role, NanoClock clock, Duration period, Runnable task) {
        this.clock = clock;
        this.periodNs = period.toNanos();
        this.task = task;
        this.thread = Thread.ofPlatform().daemon().name(role).unstarted(this::run);
    }

    /** Starts the thread; the first run is one period later. */
    public PeriodicThread start() {
        thread.start();
        return this;
    }

    private void run() {
        while (awaitNext()) {
            try {
                task.run();
                failing = false;
            } catch (Throwable e) {
                report(e);
            }
        }
    }

    private void report(Throwable failure) {
        if (failing) {
            return;
        }
        failing = true;
        try {
            LOG.error("{} failed; it goes on", thread.getName(), failure);
        } catch (Throwable e) {
            // Without memory for a line in the log; the next failure tries again.
            failing = false;
        }
    }

    /** Waits for the next run; returns false if there is none. */
    private boolean awaitNext() {
        lock.lock();
        try {
            long nextNs = clock.nanoTime() + periodNs;
            while (!stopped && clock.nanoTime() - nextNs < 0) {
                clock.awaitUntil(stop, nextNs);
            }
            return !stopped;
        } catch (InterruptedException e) {
            // Nobody but this class ends the thread.
            return !stopped;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread, and waits until a run in progress has ended. */
    @Override
    public void close() {
        lock.lock();
        try {
            stopped = true;
            stop.signalAll();
        } finally {
            lock.unlock();
        }
        if (thread == Thread.currentThread() || thread.getState() == Thread.State.NEW) {
            return;
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
