package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * A read or a write in progress, with its memory, its cancellation, and the reply of a read. Only the thread that serves the
 * request may use this object, and only until the request has completed.
 */
public interface DataRequest {
    /** The maximum length of a read or a write. */
    int MAX_REQUEST_BYTES = 1 << 20;

    /** The memory size of one request: its maximum length, and two logical blocks because a range is extended to whole blocks. */
    int MEMORY_BYTES = MAX_REQUEST_BYTES + 2 * 4096;

    /** Returns the memory that holds the data of a write or receives the data of a read. */
    DataMemory memory();

    /**
     * Returns the offset in {@link #memory} at which the memory of this request starts. The {@link #MEMORY_BYTES} from this
     * offset are aligned to a page and lie within one slab.
     */
    long memoryOffset();

    /**
     * Returns the cancellation of this request. The end of the mount cancels the request. If the binding supports signals, so
     * does a signal to the process that made the request.
     */
    Cancellation cancellation();

    /**
     * Replies to a read with bytes of any memory. The bytes may change after this method returns.
     *
     * @param lengthBytes from 0 to the length of the read
     */
    void reply(DataMemory memory, long offset, int lengthBytes) throws IOException;
}
