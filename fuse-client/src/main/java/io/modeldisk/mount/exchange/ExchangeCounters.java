package io.modeldisk.mount.exchange;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** What an exchange has moved, and how long that took. Thread-safe. */
public final class ExchangeCounters {
    private final LongAdder pushedBytes = new LongAdder();
    private final LongAdder pulledBytes = new LongAdder();
    private final LongAdder pushNs = new LongAdder();
    private final LongAdder pullNs = new LongAdder();
    private final LongAdder iterations = new LongAdder();
    private volatile long lastPushNs;
    private volatile long lastPullNs;
    private volatile long lastSynchronizeNs;
    private volatile String lastError = "";

    void pushed(long bytes, long durationNs) {
        pushedBytes.add(bytes);
        pushNs.add(durationNs);
        lastPushNs = durationNs;
    }

    void pulled(long bytes, long durationNs) {
        pulledBytes.add(bytes);
        pullNs.add(durationNs);
        lastPullNs = durationNs;
    }

    void synchronizedIn(long durationNs, boolean pushed) {
        lastSynchronizeNs = durationNs;
        if (pushed) {
            iterations.increment();
        }
    }

    void failed(Exception e) {
        lastError = String.valueOf(e.getMessage());
    }

    /** Bytes of gradient that the shards have taken. */
    public long pushedBytes() {
        return pushedBytes.sum();
    }

    /** Bytes of weights that the shards have given. */
    public long pulledBytes() {
        return pulledBytes.sum();
    }

    /** How many fsyncs ended an iteration: pushed something, and succeeded. */
    public long iterations() {
        return iterations.sum();
    }

    /** How long the last push took. */
    public double lastPushMs() {
        return ms(lastPushNs);
    }

    /** How long the last pull took. */
    public double lastPullMs() {
        return ms(lastPullNs);
    }

    /** How long the last successful fsync took. */
    public double lastSynchronizeMs() {
        return ms(lastSynchronizeNs);
    }

    /** The rate of the pushes since the start, in 10<sup>9</sup> bytes a second of pushing; 0 before the first. */
    public double pushGbPerSecond() {
        return (double) pushedBytes.sum() / Math.max(1, pushNs.sum());
    }

    /** The rate of the pulls since the start, in 10<sup>9</sup> bytes a second of pulling; 0 before the first. */
    public double pullGbPerSecond() {
        return (double) pulledBytes.sum() / Math.max(1, pullNs.sum());
    }

    /** What went wrong last, in words; empty if nothing did. */
    public String lastError() {
        return lastError;
    }

    private static double ms(long ns) {
        return ns / (double) TimeUnit.MILLISECONDS.toNanos(1);
    }
}
