package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * An exchange with local buffers, which a learner in this process uses in place: nothing is copied between computation and
 * communication. The learner calls {@link #weights}, {@link #gradient} and {@link #written} between two {@link #synchronize};
 * after each it may have another set of buffers.
 */
public interface LocalExchange extends Exchange {
    /** Waits until the weights may be read: once after {@link #prepare}. */
    void awaitWeights(Cancellation cancellation) throws IOException;

    /** The weights to read, until the next {@link #synchronize}. */
    DataMemory weights();

    /** Where to write the gradient, until the next {@link #synchronize}. */
    DataMemory gradient();

    /** A range of the gradient was written. Other ranges are not pushed. */
    void written(long offset, long lengthBytes);
}
