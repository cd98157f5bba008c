package io.modeldisk.mount.exchange;

import io.modeldisk.mount.trace.IterationTrace;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Notes how stale the weights are that a learner uses. A thread of its own asks the shards, so that no exchange waits for the
 * answer. Thread-safe.
 */
final class StalenessWatch implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(StalenessWatch.class);
    private static final long CLOSE_TIMEOUT_MS = 3_000;

    private final VersionProbe probe;
    private final ExchangeCounters counters;
    private final IterationTrace trace;
    private final AtomicBoolean asking = new AtomicBoolean();
    private final ExecutorService asker = Executors
        .newSingleThreadExecutor(Thread.ofPlatform().name("modeldisk-version").daemon().factory());

    StalenessWatch(VersionProbe probe, ExchangeCounters counters, IterationTrace trace) {
        this.probe = probe;
        this.counters = counters;
        this.trace = trace;
    }

    /** The learner begins to use weights of this version. Does not wait; while an answer is still to come none is asked for. */
    void begin(long versionInUse) {
        if (asking.compareAndSet(false, true)) {
            asker.execute(() -> note(versionInUse));
        }
    }

    private void note(long versionInUse) {
        try {
            double rounds = probe.sample(trace.nowNs()).roundsSince(versionInUse);
            if (!Double.isNaN(rounds)) {
                counters.staleness(rounds);
            }
        } finally {
            asking.set(false);
        }
    }

    /** Nothing is asked any more when this returns; bounded. */
    @Override
    public void close() {
        asker.shutdown();
        try {
            if (!asker.awaitTermination(CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                LOG.warn("a shard does not say which version it has");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
