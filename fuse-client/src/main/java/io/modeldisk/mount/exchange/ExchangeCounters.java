package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.initiator.ShardException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counters of an exchange: the bytes and durations of pushes and pulls, the times for which fsync blocks the learner, and the
 * age and staleness of the weights. {@link io.modeldisk.protocol.dialect.Metric} declares the name of each value in the status.
 * Thread-safe.
 */
public final class ExchangeCounters {
    /** The durations of the pushes in milliseconds. */
    public final Series pushes = new Series();
    /** The durations of the pulls in milliseconds. */
    public final Series pulls = new Series();
    /** The durations of the successful fsyncs in milliseconds. */
    public final Series fsyncs = new Series();
    /** The times in milliseconds for which each fsync blocked the learner. */
    public final Series stalls = new Series();
    /** The times in milliseconds by which the scheduler delayed each pull; 0 for a pull without a delay. */
    public final Series bubbles = new Series();
    /** The ages in milliseconds of the weights when the learner began to compute on them. */
    public final Series ages = new Series();
    /** The numbers of rounds by which the weights were outdated when the learner began to compute on them. */
    public final Series staleness = new Series();
    /** The number of gradient bytes that the shards have accepted. */
    public final LongAdder pushedBytes = new LongAdder();
    /** The number of weight bytes that the shards have sent. */
    public final LongAdder pulledBytes = new LongAdder();
    /** The number of iterations: successful fsyncs that had a gradient to push. */
    public final LongAdder iterations = new LongAdder();
    /** The number of times that shards have gone back to earlier weights while the learner used the model. */
    public final LongAdder rollbacks = new LongAdder();
    /** The number of the learner's rounds that were lost because shards have gone back to earlier weights. */
    public final LongAdder roundsTakenBack = new LongAdder();
    /** The number of failures. */
    public final LongAdder failures = new LongAdder();

    /** The times of the last iterations, divided into parts. */
    public final RecentIterations recent = new RecentIterations();

    private volatile String lastError = "";
    private Exception lastFailure;
    private volatile Dropped lastDropped = Dropped.NOTHING;

    void pushed(long bytes, long durationNs) {
        pushedBytes.add(bytes);
        pushes.addNs(durationNs);
    }

    void pulled(long bytes, long durationNs) {
        pulledBytes.add(bytes);
        pulls.addNs(durationNs);
    }

    void synchronizedIn(long durationNs, boolean pushed) {
        fsyncs.addNs(durationNs);
        if (pushed) {
            iterations.increment();
        }
    }

    /**
     * Records that a request to the shards or a call of the learner has failed. The failure of a push in the background counts
     * once, when the push fails. It does not count again when a call of the learner reports the same failure.
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

    /** Records that the learner continues after a failure. {@code rounds} is the number of its rounds that were lost. */
    void wentOn(IOException reason, long rounds) {
        if (OnRollback.is(reason, ShardException.Kind.WENT_BACK)) {
            rollbacks.increment();
            roundsTakenBack.add(rounds);
        }
    }

    void dropped(Dropped what) {
        lastDropped = what;
    }

    /** Returns the outcome of the last drop of a gradient by the learner. */
    public Dropped lastDropped() {
        return lastDropped;
    }

    /** Returns the mean rate of all pushes, in 10<sup>9</sup> bytes per second of pushing; 0 before the first push. */
    public double pushGbPerSecond() {
        return gbPerSecond(pushedBytes, pushes);
    }

    /** Returns the mean rate of all pulls, in 10<sup>9</sup> bytes per second of pulling; 0 before the first pull. */
    public double pullGbPerSecond() {
        return gbPerSecond(pulledBytes, pulls);
    }

    private static double gbPerSecond(LongAdder bytes, Series durationsMs) {
        return bytes.sum() / Math.max(1, durationsMs.sum() * TimeUnit.MILLISECONDS.toNanos(1));
    }

    /** Returns the message of the last failure, or an empty text if no call has failed. */
    public String lastError() {
        return lastError;
    }
}
