package io.modeldisk.mount.exchange;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/**
 * What an exchange has moved, and how long that took. {@link io.modeldisk.platform.metrics.Metric} declares each value for the
 * status. Thread-safe.
 */
public final class ExchangeCounters {
    private final LongAdder pushedBytes = new LongAdder();
    private final LongAdder pulledBytes = new LongAdder();
    private final LongAdder pushNs = new LongAdder();
    private final LongAdder pullNs = new LongAdder();
    private final LongAdder iterations = new LongAdder();
    private final LongAdder stallNs = new LongAdder();
    private final LongAdder bubbleNs = new LongAdder();
    private final LongAdder bubbles = new LongAdder();
    private final LongAdder ageNs = new LongAdder();
    private final LongAdder ages = new LongAdder();
    private final DoubleAdder staleness = new DoubleAdder();
    private final LongAdder stalenesses = new LongAdder();
    private volatile long lastStallNs;
    private volatile long lastBubbleNs;
    private volatile double lastStaleness = Double.NaN;
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

    /** The learner has waited in fsync for this long. */
    void stalled(long durationNs) {
        stallNs.add(durationNs);
        lastStallNs = durationNs;
    }

    /** A pull was delayed for this long, or 0. */
    void bubble(long durationNs) {
        bubbleNs.add(durationNs);
        bubbles.increment();
        lastBubbleNs = durationNs;
    }

    /** The learner has begun to compute on weights of this age. */
    void age(long durationNs) {
        ageNs.add(durationNs);
        ages.increment();
    }

    /** The learner has begun to compute on weights that lag behind by this many rounds. */
    void staleness(double rounds) {
        staleness.add(rounds);
        stalenesses.increment();
        lastStaleness = rounds;
    }

    void failed(Exception e) {
        lastError = String.valueOf(e.getMessage());
    }

    /** The bytes of gradient that the shards have taken. */
    public long pushedBytes() {
        return pushedBytes.sum();
    }

    /** The bytes of weights that the shards have returned. */
    public long pulledBytes() {
        return pulledBytes.sum();
    }

    /** How many iterations have ended: fsyncs that had something to push and succeeded. */
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

    /** How long the learner has waited in fsync since the start. */
    public double stallMs() {
        return ms(stallNs.sum());
    }

    /** How long the learner waited in the last fsync. */
    public double lastStallMs() {
        return ms(lastStallNs);
    }

    /** How long the last pull was delayed. */
    public double lastBubbleMs() {
        return ms(lastBubbleNs);
    }

    /** The mean delay of all pulls. */
    public double meanBubbleMs() {
        return ms(bubbleNs.sum()) / Math.max(1, bubbles.sum());
    }

    /** The age of the weights when the learner began to compute on them, mean of all iterations. */
    public double meanAgeMs() {
        return ms(ageNs.sum()) / Math.max(1, ages.sum());
    }

    /** The rounds by which the last weights lagged behind when the learner began to compute on them; NaN if unknown. */
    public double lastStaleness() {
        return lastStaleness;
    }

    /** The mean of all stalenesses that are known; NaN if none is known. */
    public double meanStaleness() {
        return stalenesses.sum() == 0 ? Double.NaN : staleness.sum() / stalenesses.sum();
    }

    /** The mean rate of all pushes, in 10<sup>9</sup> bytes per second of pushing; 0 before the first push. */
    public double pushGbPerSecond() {
        return (double) pushedBytes.sum() / Math.max(1, pushNs.sum());
    }

    /** The mean rate of all pulls, in 10<sup>9</sup> bytes per second of pulling; 0 before the first pull. */
    public double pullGbPerSecond() {
        return (double) pulledBytes.sum() / Math.max(1, pullNs.sum());
    }

    /** The message of the last failure; empty if there was none. */
    public String lastError() {
        return lastError;
    }

    private static double ms(long ns) {
        return ns / (double) TimeUnit.MILLISECONDS.toNanos(1);
    }
}
