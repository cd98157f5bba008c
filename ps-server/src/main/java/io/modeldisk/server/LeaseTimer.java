package io.modeldisk.server;

import io.modeldisk.platform.time.NanoClock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A daemon thread that removes learners when their leases expire. The thread checks the leases four times per lease, but at least
 * once a second. Time in which this process did not run (SIGSTOP, a suspended virtual machine, a long garbage collection) does
 * not count, because learners could not reconnect during that time.
 */
final class LeaseTimer implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(LeaseTimer.class);
    private static final long MIN_PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long MAX_PERIOD_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int PERIODS_PER_LEASE = 4;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

    private final ShardModel shard;
    private final NanoClock clock;
    private final long periodNs;
    private final Thread thread;
    private final Lock lock = new ReentrantLock();
    private final Condition stop = lock.newCondition();
    private boolean stopped;
    // The next two fields are used only by the timer's thread.
    private long lastTickNs;
    private boolean failed;

    LeaseTimer(ShardModel shard, NanoClock clock) {
        this.shard = shard;
        this.clock = clock;
        this.periodNs = Math.clamp(shard.lease().toNanos() / PERIODS_PER_LEASE, MIN_PERIOD_NS, MAX_PERIOD_NS);
        this.lastTickNs = clock.nanoTime();
        this.thread = Thread.ofPlatform()
            .daemon()
            .name("modeldisk-lease-" + shard.facts().model() + "-" + shard.facts().shard())
            .unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try {
            while (sleepUntil(clock.nanoTime() + periodNs)) {
                tick();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until {@code deadlineNs}. Returns false if the timer was stopped before that time. */
    private boolean sleepUntil(long deadlineNs) throws InterruptedException {
        lock.lock();
        try {
            while (!stopped && clock.nanoTime() - deadlineNs < 0) {
                clock.awaitUntil(stop, deadlineNs);
            }
            return !stopped;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes learners whose leases have expired. Never throws: without this thread, bsp would wait forever for dead learners.
     */
    void tick() {
        try {
            long nowNs = clock.nanoTime();
            // A delay of up to two periods is no pause, because a busy machine wakes threads late.
            long pausedNs = nowNs - lastTickNs - 2 * periodNs;
            lastTickNs = nowNs;
            if (pausedNs > 0) {
                shard.learners().extendLeases(pausedNs);
            }
            shard.expire();
            failed = false;
        } catch (Throwable e) {
            logOnce(e);
        }
    }

    private void logOnce(Throwable failure) {
        if (!failed) {
            failed = true;
            LOG.error("thread {} failed to remove learners with expired leases; it retries in {} ms", thread.getName(),
                TimeUnit.NANOSECONDS.toMillis(periodNs), failure);
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            stopped = true;
            stop.signalAll();
        } finally {
            lock.unlock();
        }
        try {
            if (thread.isAlive() && !thread.join(STOP_TIMEOUT)) {
                LOG.warn("thread {} is still running {} s after it was told to stop", thread.getName(),
                    STOP_TIMEOUT.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
