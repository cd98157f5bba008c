package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * A read or a write that is served now: its memory, its cancellation, and the reply of a read. For the thread that serves the
 * request only, until it returns.
 */
public interface DataRequest {
    /** The largest read or write. */
    int MAX_REQUEST_BYTES = 1 << 20;

    /** The bytes of memory: the largest request, and a logical block at each end to widen it to whole ones. */
    int MEMORY_BYTES = MAX_REQUEST_BYTES + 2 * 4096;

    /** The memory with the data of a write, and for the data of a read. */
    DataMemory memory();

    /** The start of this request's {@link #MEMORY_BYTES} in {@link #memory}: on a page, and all in one slab. */
    long memoryOffset();

    /** Cancelled when the process is interrupted. */
    Cancellation cancellation();

    /**
     * Replies to a read with bytes of any memory, without a copy. The bytes may change after this returns.
     *
     * @param lengthBytes from 0 to the length of the read
     */
    void reply(DataMemory memory, long offset, int lengthBytes) throws IOException;
}
