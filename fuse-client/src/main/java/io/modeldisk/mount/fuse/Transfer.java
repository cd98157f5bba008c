package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/** The memory and the reply of one request. For the thread that handles the request only, and only until it returns. */
public interface Transfer {
    /** The largest read or write. */
    int MAX_REQUEST_BYTES = 1 << 20;

    /** How much memory there is: the largest request, and room to widen it to logical blocks at both ends. */
    int MEMORY_BYTES = MAX_REQUEST_BYTES + 2 * 4096;

    /** Where a write's data is, and where a read may put its own. */
    DataMemory memory();

    /** The start of this request's {@link #MEMORY_BYTES} in {@link #memory}, page-aligned, in one slab. */
    long memoryOffset();

    /** Tells when the process was interrupted. */
    Cancellation cancellation();

    /**
     * Answers a read with bytes of any memory, straight from there: they may change again when this returns.
     *
     * @param lengthBytes 0 up to what was asked for; the range lies in one slab, or is split by this method
     */
    void reply(DataMemory memory, long offset, int lengthBytes) throws IOException;
}
