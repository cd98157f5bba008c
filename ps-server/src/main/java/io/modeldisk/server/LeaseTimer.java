package io.modeldisk.server;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Ends leases in time: one daemon thread, which wakes a few times a lease. */
final class LeaseTimer implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(LeaseTimer.class);
    private static final long MIN_PERIOD_MS = 10;
    private static final long MAX_PERIOD_MS = 1_000;
    private static final int PERIODS_PER_LEASE = 4;
    private static final long STOP_TIMEOUT_MS = 5_000;

    private final ShardModel shard;
    private final long periodMs;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread;

    LeaseTimer(ShardModel shard, Duration lease) {
        this.shard = shard;
        this.periodMs = Math.clamp(lease.toMillis() / PERIODS_PER_LEASE, MIN_PERIOD_MS, MAX_PERIOD_MS);
        this.thread = Thread.ofPlatform()
            .daemon()
            .name("modeldisk-lease-" + shard.facts().model() + "-" + shard.facts().shard())
            .start(this::run);
    }

    private void run() {
        try {
            while (!stopped.await(periodMs, TimeUnit.MILLISECONDS)) {
                expire();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void expire() {
        try {
            shard.expire(System.nanoTime());
        } catch (RuntimeException e) {
            // An aggregator that fails on one block must not leave all others waiting for the dead for ever.
            LOG.error("closing the rounds of expired learners failed; the timer goes on", e);
        }
    }

    @Override
    public void close() {
        stopped.countDown();
        try {
            if (!thread.join(Duration.ofMillis(STOP_TIMEOUT_MS))) {
                LOG.warn("{} is still busy {} ms after it was told to stop", thread.getName(), STOP_TIMEOUT_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
