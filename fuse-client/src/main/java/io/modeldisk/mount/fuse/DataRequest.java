package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * A read or a write in progress, with its memory, its cancellation, and a method to reply to a read. Only one thread at a time is
 * allowed to use this object, and only until the request has completed. At first, only the thread that serves the request uses
 * the object. After the request was started ({@link FileHandle#startRead}, {@link FileHandle#startWrite}), only the thread that
 * calls {@link #end} uses it.
 */
public abstract class DataRequest {
    /** The action that ends a request that was started. */
    @FunctionalInterface
    public interface Ending {
        /**
         * Ends a read with {@link DataRequest#reply}, or a write with its result.
         *
         * @return the number of bytes written; ignored for a read
         * @throws IOException as {@link FileHandle#read} and {@link FileHandle#write}
         */
        int run() throws IOException;
    }

    /** The maximum length of a read or a write. */
    public static final int MAX_REQUEST_BYTES = 1 << 20;

    /**
     * The memory size of one request: the maximum length plus two logical blocks, because a range is extended to whole blocks at
     * both ends.
     */
    public static final int MEMORY_BYTES = MAX_REQUEST_BYTES + 2 * 4096;

    private final DataMemory memory;
    private final long memoryOffset;

    /**
     * Creates a request that uses {@link #MEMORY_BYTES} of the memory.
     *
     * @param memoryOffset the offset of the first of these bytes; they start at a page and lie within one slab
     */
    protected DataRequest(DataMemory memory, long memoryOffset) {
        this.memory = memory;
        this.memoryOffset = memoryOffset;
    }

    /** Returns the memory that holds the data of a write or receives the data of a read. */
    public final DataMemory memory() {
        return memory;
    }

    /** Returns the offset in {@link #memory} at which the memory of this request starts. */
    public final long memoryOffset() {
        return memoryOffset;
    }

    /**
     * Returns the cancellation of this request. The request is cancelled when the mount ends. If the binding supports signals, a
     * signal to the process that made the request cancels it too.
     */
    public abstract Cancellation cancellation();

    /**
     * Replies to a read with bytes of any memory. The caller can change the bytes after this method returns.
     *
     * @param lengthBytes from 0 to the length of the read
     */
    public abstract void reply(DataMemory from, long offset, int lengthBytes) throws IOException;

    /** Ends a request that was started: runs {@code ending}, and replies to the request. Throws no exception. */
    public void end(Ending ending) {
        throw new UnsupportedOperationException("this binding cannot start a request that another thread ends");
    }
}
