package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * An exchange whose local buffers are used directly by a learner, without a copy. A learner in this process calls
 * {@link #weights}, {@link #gradient} and {@link #written} between two calls of {@link #synchronize}, and each
 * {@link #synchronize} may replace the buffers. A learner in another process maps all buffers; see {@link #prepareMapped}.
 */
public interface LocalExchange extends Exchange {
    /** Waits until the weights may be read. The learner calls this method once after {@link #prepare}. */
    void awaitWeights(Cancellation cancellation) throws IOException;

    /** Returns the buffer of the weights, valid until the next {@link #synchronize}. */
    DataMemory weights();

    /** Returns the buffer for the gradient, valid until the next {@link #synchronize}. */
    DataMemory gradient();

    /**
     * Like {@link #prepare}, for a learner that maps the buffers. Each {@link #synchronize} pushes the whole gradient of the
     * active set and leaves it as it is. Set 0 is the active set. The learner may use it after {@link #awaitWeights}.
     *
     * <p>If {@link #synchronize} fails, and not because of {@link OnRollback}, the next call ends the same iteration: it pushes
     * only what the shards do not have yet.
     */
    void prepareMapped(Cancellation cancellation) throws IOException;

    /** Returns the number of buffer sets. */
    int sets();

    /** Returns the number of the active set, which the learner uses until the next {@link #synchronize}. */
    int activeSet();

    /** Returns how many calls of {@link #synchronize} have succeeded since the learner joined. */
    long iterations();

    /**
     * Returns a buffer of a set. Allocates the buffer if it does not exist yet. It then exists until {@link #close}, unless an
     * exchange that could not be ended still uses it when a learner leaves.
     *
     * @param set from 0 to {@link #sets} - 1
     * @param gradient whether to return the buffer of the gradient instead of that of the weights
     */
    DataMemory buffer(int set, boolean gradient, Cancellation cancellation) throws IOException;

    /** Records that the learner has written a range of the gradient. Only recorded ranges are pushed. */
    void written(long offset, long lengthBytes);
}
