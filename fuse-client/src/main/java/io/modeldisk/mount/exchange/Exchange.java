package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.util.Optional;

/**
 * Moves weights and gradients between a learner and the shards. Offsets are in bytes of the model; ranges lie
 * within its size. Thread-safe: requests run concurrently.
 */
public interface Exchange extends AutoCloseable {
    /**
     * Starts to pull the weights, for which the first read waits, and allocates the buffers. Called before the first open file
     * of any kind, and before the first that is writable.
     *
     * @param learner whether writes will follow
     * @throws IOException if there is not enough memory, or it was cancelled
     */
    void prepare(boolean learner, Cancellation cancellation) throws IOException;

    /** Answers a read with weights; returns when they are no longer used. */
    void read(long offset, int lengthBytes, DataRequest request) throws IOException;

    /**
     * How many bytes of a write can be taken at once; if fewer than all, write(2) is short and the process writes the rest.
     * Default: all.
     */
    default int writable(long offset, int lengthBytes) {
        return lengthBytes;
    }

    /** Takes the gradient at the start of the request's memory, all of it or none; a range of {@link #writable}. */
    void write(long offset, int lengthBytes, DataRequest request) throws IOException;

    /**
     * Ends the learner's iteration: fsync. After an interrupt the exchange with the shards goes on, and the same call,
     * repeated, waits for it.
     */
    void synchronize(Cancellation cancellation) throws IOException;

    /**
     * fsync of a file that is open for reading: pulls the weights again. Does nothing while there is a learner: its own fsync
     * does.
     */
    void refresh(Cancellation cancellation) throws IOException;

    /**
     * A learner has closed a descriptor: waits until the shards have the gradient of its last fsync.
     *
     * @throws IOException if they do not get it: the answer to close(2)
     */
    void flush(Cancellation cancellation) throws IOException;

    /** The learner has closed the model or died: gradient that it wrote and did not fsync is dropped, never pushed. */
    void abandon();

    /** Version and age of the weights that a read returns now. */
    WeightsInUse weightsInUse();

    /** The forecast of the next iteration; empty if the scheme makes none. */
    default Optional<PullScheduler.Forecast> forecast() {
        return Optional.empty();
    }

    /** How much has moved, and how long that took. */
    ExchangeCounters counters();

    /** Frees its memory. No other call may be under way or follow. */
    @Override
    void close();
}
