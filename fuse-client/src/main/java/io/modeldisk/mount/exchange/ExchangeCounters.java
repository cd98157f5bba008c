package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.initiator.ShardException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counters of an exchange: bytes and times of pushes and pulls, waits of the learner, age and staleness of the weights.
 * {@link io.modeldisk.protocol.dialect.Metric} declares the name of each value in the status. Thread-safe.
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
    private final LongAdder rollbacks = new LongAdder();
    private final LongAdder roundsTakenBack = new LongAdder();
    private volatile long lastStallNs;
    private volatile long lastBubbleNs;
    private volatile double lastStaleness = Double.NaN;
    private volatile long lastPushNs;
    private volatile long lastPullNs;
    private volatile long lastSynchronizeNs;
    private final LongAdder failures = new LongAdder();
    private volatile String lastError = "";
    private Exception lastFailure;
    private volatile Dropped lastDropped = Dropped.NOTHING;

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

    /** Records the time that the learner waited in an fsync. */
    void stalled(long durationNs) {
        stallNs.add(durationNs);
        lastStallNs = durationNs;
    }

    /** Records the delay of a pull, which may be 0. */
    void bubble(long durationNs) {
        bubbleNs.add(durationNs);
        bubbles.increment();
        lastBubbleNs = durationNs;
    }

    /** Records the age of the weights when the learner begins to compute on them. */
    void age(long durationNs) {
        ageNs.add(durationNs);
        ages.increment();
    }

    /** Records the number of rounds by which the weights are outdated when the learner begins to compute on them. */
    void staleness(double rounds) {
        staleness.add(rounds);
        stalenesses.increment();
        lastStaleness = rounds;
    }

    /**
     * Records that a request to the shards or a call has failed. The failure of a push in the background counts when it happens,
     * and not again when the calls of the learner report it.
     */
    public synchronized void failed(Exception e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause == lastFailure) {
                return;
            }
        }
        lastFailure = e;
        failures.increment();
        lastError = String.valueOf(e.getMessage());
    }

    /** Records that the learner goes on after a failure, and the number of its rounds that were taken back. */
    void wentOn(IOException reason, long rounds) {
        if (OnRollback.is(reason, ShardException.Kind.WENT_BACK)) {
            rollbacks.increment();
            roundsTakenBack.add(rounds);
        }
    }

    void dropped(Dropped what) {
        lastDropped = what;
    }

    /** Returns the gradient that the learner has dropped last. */
    public Dropped lastDropped() {
        return lastDropped;
    }

    /** Returns how many times shards have gone back to earlier weights while the learner used them. */
    public long rollbacks() {
        return rollbacks.sum();
    }

    /** Returns the number of the learner's rounds that were taken back. */
    public long roundsTakenBack() {
        return roundsTakenBack.sum();
    }

    /** Returns the number of gradient bytes that the shards have accepted. */
    public long pushedBytes() {
        return pushedBytes.sum();
    }

    /** Returns the number of weight bytes that the shards have sent. */
    public long pulledBytes() {
        return pulledBytes.sum();
    }

    /** Returns the number of iterations: successful fsyncs that had a gradient to push. */
    public long iterations() {
        return iterations.sum();
    }

    /** Returns the duration of all pushes in milliseconds. */
    public double pushMs() {
        return ms(pushNs.sum());
    }

    /** Returns the duration of all pulls in milliseconds. */
    public double pullMs() {
        return ms(pullNs.sum());
    }

    /** Returns the duration of the last push in milliseconds. */
    public double lastPushMs() {
        return ms(lastPushNs);
    }

    /** Returns the duration of the last pull in milliseconds. */
    public double lastPullMs() {
        return ms(lastPullNs);
    }

    /** Returns the duration of the last successful fsync in milliseconds. */
    public double lastSynchronizeMs() {
        return ms(lastSynchronizeNs);
    }

    /** Returns the total time in milliseconds that the learner has waited in fsync. */
    public double stallMs() {
        return ms(stallNs.sum());
    }

    /** Returns the time in milliseconds that the learner waited in the last fsync. */
    public double lastStallMs() {
        return ms(lastStallNs);
    }

    /** Returns the delay of all pulls in milliseconds. */
    public double bubbleMs() {
        return ms(bubbleNs.sum());
    }

    /** Returns the delay of the last pull in milliseconds. */
    public double lastBubbleMs() {
        return ms(lastBubbleNs);
    }

    /** Returns the mean delay of all pulls in milliseconds. */
    public double meanBubbleMs() {
        return ms(bubbleNs.sum()) / Math.max(1, bubbles.sum());
    }

    /** Returns the mean age in milliseconds of the weights when the learner began to compute on them. */
    public double meanAgeMs() {
        return ms(ageNs.sum()) / Math.max(1, ages.sum());
    }

    /** Returns the number of rounds by which the weights were outdated when the last computation began; NaN if unknown. */
    public double lastStaleness() {
        return lastStaleness;
    }

    /** Returns the mean number of rounds by which weights were outdated; NaN if unknown. */
    public double meanStaleness() {
        return stalenesses.sum() == 0 ? Double.NaN : staleness.sum() / stalenesses.sum();
    }

    /** Returns the mean rate of all pushes, in 10<sup>9</sup> bytes per second of pushing; 0 before the first push. */
    public double pushGbPerSecond() {
        return (double) pushedBytes.sum() / Math.max(1, pushNs.sum());
    }

    /** Returns the mean rate of all pulls, in 10<sup>9</sup> bytes per second of pulling; 0 before the first pull. */
    public double pullGbPerSecond() {
        return (double) pulledBytes.sum() / Math.max(1, pullNs.sum());
    }

    /** Returns the number of failures. */
    public long failures() {
        return failures.sum();
    }

    /** Returns the message of the last failure, or an empty text if no call has failed. */
    public String lastError() {
        return lastError;
    }

    private static double ms(long ns) {
        return ns / (double) TimeUnit.MILLISECONDS.toNanos(1);
    }
}
