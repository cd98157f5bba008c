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
     * Allocates the buffers and starts to pull the weights. The first read waits for this pull. This method is called when the
     * model is first opened, and again when it is first opened for writing.
     *
     * @param learner whether the model is opened for writing
     * @throws IOException if the memory is too small, or the call was cancelled
     */
    void prepare(boolean learner, Cancellation cancellation) throws IOException;

    /** Replies to a read with weights. Returns when the reply no longer uses the weights. */
    void read(long offset, int lengthBytes, DataRequest request) throws IOException;

    /**
     * Starts a read; see {@link io.modeldisk.mount.fuse.FileHandle#startRead}. Default: returns false, so the caller uses {@link
     * #read}.
     */
    default boolean startRead(long offset, int lengthBytes, DataRequest request) throws IOException {
        return false;
    }

    /** Starts a write of exactly {@code lengthBytes}. Default: returns false, so the caller uses {@link #write}. */
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
     * Ends the iteration of the learner, for an fsync(2). After an interrupt, the exchange with the shards continues, and a
     * repeated call waits for this exchange.
     */
    void synchronize(Cancellation cancellation) throws IOException;

    /**
     * Pulls the weights again, for an fsync(2) of a file that is open for reading. Does nothing while there is a learner, because
     * the fsync of the learner pulls the weights. Default: does nothing, for a scheme in which every read pulls.
     */
    default void refresh(Cancellation cancellation) throws IOException {}

    /**
     * Waits until the shards have received the gradient of the last fsync, for a close(2) by the learner. Default: does nothing,
     * for a scheme in which a write returns only after the shards have received it.
     *
     * @throws IOException if the push has failed; close(2) then fails
     */
    default void flush(Cancellation cancellation) throws IOException {}

    /**
     * Gives up the gradient of an fsync that has failed or was interrupted, and everything that was written afterwards. The part
     * that the shards have accepted counts. The shards are notified that the other blocks have no gradient in this round. The
     * next gradient then belongs to the next round in all blocks. If this method throws an exception, it can be called again.
     *
     * @throws IOException if a shard does not respond, there is no learner, or the exchange scheme has no local buffer for a
     *     gradient
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
     * Sets the handler of milestones. A milestone is a moment at which the state can be saved: all pushes of the learner have
     * ended, and those of the next exchange have not begun. If this process is killed, another process can continue from the last
     * milestone without losing a gradient. Only the exchange of a learner that maps its buffers has milestones. Must be called
     * before the first request.
     *
     * @param handler is called in the thread of a request, with the cancellation of the request that is about to succeed; with
     *     null if the saved state is no longer valid, for example because the learner has left
     */
    default void onMilestone(Consumer<Cancellation> handler) {}

    /**
     * Stops the pushes and pulls in the background, so the state can be saved. The caller must not serve any further request.
     *
     * @return false if a push or a pull is still in progress after a few seconds
     */
    default boolean freeze() {
        return true;
    }

    /**
     * Returns the state for another process. Only the handler of milestones is allowed to call this method before {@link
     * #freeze}.
     */
    ExchangeImage image();

    /**
     * Continues from the state of another process. Must be called before the first request.
     *
     * @param killed whether a process was killed after the image was saved, so it might have pushed a part of the gradient that
     *     is pushed next
     */
    void resume(ExchangeImage image, boolean killed) throws IOException;

    /**
     * Continues without a saved state, after another process was killed while a learner had the model open. The caller has joined
     * the learner again. The next fsync fails, and the gradient is discarded.
     *
     * @param mapped whether the learner maps the buffers
     * @param reason the reason for the failure; {@link OnRollback#isReason} is true for it
     */
    void resumeAfterKill(boolean mapped, IOException reason) throws IOException;

    /**
     * Frees the memory. Must be the last call of this object, while no other call is in progress. Default: there is no memory to
     * free.
     */
    @Override
    default void close() {}
}
