package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * A read or a write in progress, with its memory, its cancellation, and the reply of a read. Only one thread at a time may use
 * this object, and only until the request has completed: the thread that serves the request, or, if the request was started
 * ({@link FileHandle#startRead}, {@link FileHandle#startWrite}), the thread that calls {@link #end}.
 */
public interface DataRequest {
    /** The end of a request that was started. */
    @FunctionalInterface
    interface Ending {
        /**
         * Ends a read with {@link DataRequest#reply}, or a write with its result.
         *
         * @return the number of bytes written; of no meaning for a read
         * @throws IOException as {@link FileHandle#read} and {@link FileHandle#write}
         */
        int run() throws IOException;
    }

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

    /** Runs the ending of a request that was started, and replies to the request. Throws no exception. */
    default void end(Ending ending) {
        throw new UnsupportedOperationException("this binding starts no requests");
    }
}
