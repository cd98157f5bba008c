package io.modeldisk.mount.exchange;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/** What an exchange has moved, and how long that took. Thread-safe. */
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

    /** The learner has waited in fsync. */
    void stalled(long durationNs) {
        stallNs.add(durationNs);
        lastStallNs = durationNs;
    }

    /** A pull was put off, perhaps by nothing. */
    void bubble(long durationNs) {
        bubbleNs.add(durationNs);
        bubbles.increment();
        lastBubbleNs = durationNs;
    }

    /** The learner has begun to compute on weights whose pull began so long ago. */
    void age(long durationNs) {
        ageNs.add(durationNs);
        ages.increment();
    }

    /** By so many rounds the weights lagged behind when the learner began to compute on them. */
    void staleness(double rounds) {
        staleness.add(rounds);
        stalenesses.increment();
        lastStaleness = rounds;
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

    /** How long the learner has waited in fsync since the start. */
    public double stallMs() {
        return ms(stallNs.sum());
    }

    /** How long it waited in the last. */
    public double lastStallMs() {
        return ms(lastStallNs);
    }

    /** How long the last pull was put off. */
    public double lastBubbleMs() {
        return ms(lastBubbleNs);
    }

    /** The same, the mean of all. */
    public double meanBubbleMs() {
        return ms(bubbleNs.sum()) / Math.max(1, bubbles.sum());
    }

    /** How old weights were when the learner began to compute on them: the mean of all iterations. */
    public double meanAgeMs() {
        return ms(ageNs.sum()) / Math.max(1, ages.sum());
    }

    /** By how many rounds the last weights lagged behind when the learner began to compute on them; NaN if not known. */
    public double lastStaleness() {
        return lastStaleness;
    }

    /** The same, the mean of those that are known; NaN if none is. */
    public double meanStaleness() {
        return stalenesses.sum() == 0 ? Double.NaN : staleness.sum() / stalenesses.sum();
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
