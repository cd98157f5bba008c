package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.memory.DataMemory;

/**
 * An exchange with buffers of its own, which a learner in this process uses in place: no byte is copied between computation and
 * communication. The learner calls these between two {@link #synchronize}, which may hand it another set of buffers.
 */
public interface LocalExchange extends Exchange {
    /** The weights to read, until the next {@link #synchronize}. */
    DataMemory weights();

    /** Where to write the gradient, until the next {@link #synchronize}. */
    DataMemory gradient();

    /** Tells that this range of the gradient has been written; what is not told of is not pushed. */
    void written(long offset, long lengthBytes);
}
