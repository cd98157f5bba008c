package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * An exchange whose local buffers are used directly by a learner in this process, without a copy. The learner calls
 * {@link #weights}, {@link #gradient} and {@link #written} between two calls of {@link #synchronize}. Each {@link #synchronize}
 * may replace the buffers.
 */
public interface LocalExchange extends Exchange {
    /** Waits until the weights may be read. The learner calls this method once after {@link #prepare}. */
    void awaitWeights(Cancellation cancellation) throws IOException;

    /** Returns the buffer of the weights, valid until the next {@link #synchronize}. */
    DataMemory weights();

    /** Returns the buffer for the gradient, valid until the next {@link #synchronize}. */
    DataMemory gradient();

    /** Records that the learner has written a range of the gradient. Only recorded ranges are pushed. */
    void written(long offset, long lengthBytes);
}
