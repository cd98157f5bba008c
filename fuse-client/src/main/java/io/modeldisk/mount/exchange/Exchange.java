package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.scheduling.PullScheduler;
import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Moves weights and gradients between a learner and the shards. Offsets are in bytes from the start of the model. Ranges must lie
 * within the model. Thread-safe: requests run concurrently.
 */
public interface Exchange extends AutoCloseable {
    /**
     * Allocates the buffers and starts to pull the weights. The first read waits for this pull. Is called at the first open of
     * the model, and at its first open for writing.
     *
     * @param learner whether the model is opened for writing
     * @throws IOException if the memory is too small, or the call was cancelled
     */
    void prepare(boolean learner, Cancellation cancellation) throws IOException;

    /** Replies to a read with weights. Returns when the reply no longer uses the weights. */
    void read(long offset, int lengthBytes, DataRequest request) throws IOException;

    /** Starts a read; see {@link io.modeldisk.mount.fuse.FileHandle#startRead}. Default: does not start reads. */
    default boolean startRead(long offset, int lengthBytes, DataRequest request) throws IOException {
        return false;
    }

    /** Starts a write, which returns its whole length. Default: does not start writes. */
    default boolean startWrite(long offset, int lengthBytes, DataRequest request) throws IOException {
        return false;
    }

    /**
     * Returns the number of bytes of a write that the exchange can accept in one call. If the number is smaller than the length,
     * write(2) is short and the process writes the rest. Default: the length.
     */
    default int writable(long offset, int lengthBytes) {
        return lengthBytes;
    }

    /** Accepts the gradient at the start of the request's memory. The length must be at most the result of {@link #writable}. */
    void write(long offset, int lengthBytes, DataRequest request) throws IOException;

    /**
     * Ends the iteration of the learner, for an fsync(2). After an interrupt, the exchange with the shards continues. A repeated
     * call waits for this exchange.
     */
    void synchronize(Cancellation cancellation) throws IOException;

    /**
     * Pulls the weights again, for an fsync(2) of a file that is open for reading. Does nothing while there is a learner, because
     * the fsync of the learner pulls the weights. Default: every read pulls.
     */
    default void refresh(Cancellation cancellation) throws IOException {}

    /**
     * Waits until the shards have received the gradient of the last fsync, for a close(2) by the learner. Default: they have when
     * a write returns.
     *
     * @throws IOException if the push has failed; close(2) then fails
     */
    default void flush(Cancellation cancellation) throws IOException {}

    /**
     * Gives up the gradient of an fsync that has failed or was interrupted, and what was written after it. The part that the
     * shards have accepted counts. They are told that the other blocks have no gradient in this round. The next gradient then
     * has the next round in all blocks.
     * If the call fails, it can be repeated.
     *
     * @throws IOException if a shard does not respond, there is no learner, or the exchange has no gradient of its own
     */
    Dropped drop(Cancellation cancellation) throws IOException;

    /** Discards the gradient that was written after the last fsync, because the learner has closed the model or died. */
    void abandon();

    /**
     * Returns the round of the gradient that the learner computes now; 0 if no learner has the model open. While a learner has
     * the model open, the round changes only when an fsync succeeds.
     */
    long round();

    /** Returns the version and the age of the weights that a read returns now. */
    WeightsInUse weightsInUse();

    /** Returns the forecast of the next iteration, or empty if the exchange scheme has no forecast. */
    default Optional<PullScheduler.Forecast> forecast() {
        return Optional.empty();
    }

    /** Returns the counters of the pushes, the pulls and the iterations. */
    ExchangeCounters counters();

    /**
     * Sets the handler of milestones, the moments at which the state can be saved: all of the learner's pushes have ended, and
     * those of the next exchange have not begun. Only an exchange of a learner that maps its buffers has milestones: if this
     * process is killed, another process can continue from the last one without losing a gradient. Must be set before the first
     * request.
     *
     * @param handler is called in the thread of a request, with the cancellation of the request that is about to succeed; with
     *     null if the learner has left
     */
    default void onMilestone(Consumer<Cancellation> handler) {}

    /**
     * Stops the pushes and pulls in the background, so the state can be saved. The caller serves no request any more.
     *
     * @return false if it has not stopped within some seconds
     */
    default boolean freeze() {
        return true;
    }

    /** Returns the state for another process. May be called only by the handler of milestones, or after {@link #freeze}. */
    ExchangeImage image();

    /** Continues from the state of another process. Must be called before the first request. */
    void resume(ExchangeImage image) throws IOException;

    /**
     * Continues without the state of another process, which was killed while a learner had the model open. The next fsync fails,
     * and the gradient is discarded. The learner has joined again.
     *
     * @param mapped whether the learner maps the buffers
     * @param reason the reason for the failure, which is one of {@link OnRollback#isReason}
     */
    void resumeAfterKill(boolean mapped, IOException reason) throws IOException;

    /** Frees the memory. May be called only when no other call is in progress. No call may follow. Default: there is none. */
    @Override
    default void close() {}
}
