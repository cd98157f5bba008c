package io.modeldisk.server;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.time.PeriodicThread;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A daemon thread that removes learners when their leases expire. The thread checks all leases every quarter of the lease time,
 * but at least once a second. Learners cannot reconnect while this process does not run (SIGSTOP, a suspended virtual machine, a
 * long garbage collection) or does not serve, so the thread extends the leases by that time.
 */
final class LeaseTimer implements AutoCloseable {
    private static final long MIN_PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long MAX_PERIOD_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int PERIODS_PER_LEASE = 4;

    private final ShardModel shard;
    private final NanoClock clock;
    private final long periodNs;
    private final PeriodicThread thread;
    // Used only by the timer's thread.
    private long lastTickNs;

    LeaseTimer(ShardModel shard, NanoClock clock) {
        this.shard = shard;
        this.clock = clock;
        this.periodNs = Math.clamp(shard.lease().toNanos() / PERIODS_PER_LEASE, MIN_PERIOD_NS, MAX_PERIOD_NS);
        this.lastTickNs = clock.nanoTime();
        this.thread = new PeriodicThread(ThreadName.LEASE.builder(shard.facts().model(), shard.facts().shard()),
            clock,
            Duration.ofNanos(periodNs), this::tick);
    }

    void start() {
        thread.start();
    }

    /** Removes the learners whose leases have expired. */
    void tick() {
        long nowNs = clock.nanoTime();
        if (!shard.mayServe()) {
            shard.learners().extendLeases(nowNs - lastTickNs);
            lastTickNs = nowNs;
            return;
        }
        // Only the time beyond two periods counts as a pause, because a busy machine wakes threads late.
        long pausedNs = nowNs - lastTickNs - 2 * periodNs;
        lastTickNs = nowNs;
        if (pausedNs > 0) {
            shard.learners().extendLeases(pausedNs);
        }
        shard.expire();
    }

    @Override
    public void close() {
        thread.close();
    }
}
