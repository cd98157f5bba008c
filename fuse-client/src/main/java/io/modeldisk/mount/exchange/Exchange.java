package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.Transfer;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.util.Optional;

/**
 * When weights and gradients move between a learner and the shards. Thread-safe: requests run concurrently. Offsets are in bytes
 * of the model; ranges lie within its size: the file has cut them.
 */
public interface Exchange extends AutoCloseable {
    /**
     * Makes reads fresh and the gradient clean; called before the first handle of any kind, and before the first handle of a
     * learner, not for each handle.
     *
     * @param learner whether writes will follow
     */
    void prepare(boolean learner, Cancellation cancellation) throws IOException;

    /** Answers a read with weights; returns when they are no longer needed. */
    void read(long offset, int lengthBytes, Transfer transfer) throws IOException;

    /**
     * How many bytes of a write can be taken at once; if fewer than all, write(2) is short and the process writes the rest.
     * Default: all.
     */
    default int writable(long offset, int lengthBytes) {
        return lengthBytes;
    }

    /** Takes the gradient at the start of the transfer's memory, all of it or none; a range of {@link #writable}. */
    void write(long offset, int lengthBytes, Transfer transfer) throws IOException;

    /** Ends the learner's iteration: fsync. */
    void synchronize(Cancellation cancellation) throws IOException;

    /** Makes reads fresh, for a handle that cannot write: its fsync. */
    void refresh(Cancellation cancellation) throws IOException;

    /**
     * A learner has closed a descriptor: waits until what it has fsynced is with the shards.
     *
     * @throws IOException if it cannot get there: what close(2) answers
     */
    void flush(Cancellation cancellation) throws IOException;

    /** The learner is gone: what it wrote and did not fsync is dropped, never pushed. */
    void abandon();

    /** Of when the weights are that a read returns now. */
    WeightsInUse weightsInUse();

    /** What it expects of the next iteration; empty if it expects nothing. */
    default Optional<PullScheduler.Forecast> forecast() {
        return Optional.empty();
    }

    /** What has moved so far. */
    ExchangeCounters counters();

    /** Gives its memory back. Nobody uses it any more. */
    @Override
    void close();
}
