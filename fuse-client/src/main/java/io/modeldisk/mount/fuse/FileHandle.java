package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;

/**
 * An open file. Thread-safe: requests on one handle run concurrently. The process receives EINTR for an exception of a cancelled
 * request, and {@link FuseFileSystem#errno} for any other IOException.
 */
public interface FileHandle {
    /**
     * Reads bytes and replies with {@link DataRequest#reply} at most once. No reply means the end of the file.
     *
     * @param offset 0 or more; may lie past the end
     * @param lengthBytes at most {@link DataRequest#MAX_REQUEST_BYTES}
     */
    void read(long offset, int lengthBytes, DataRequest request) throws IOException;

    /**
     * Writes the bytes at the start of the request's memory.
     *
     * @return the number of bytes written
     */
    int write(long offset, int lengthBytes, DataRequest request) throws IOException;

    /** Handles an fsync(2) on this handle. */
    void synchronize(Cancellation cancellation) throws IOException;

    /**
     * Handles a close(2) of one descriptor of this handle. {@link #release} is called after the last one. close(2) fails if this
     * method throws an exception.
     */
    void flush(Cancellation cancellation) throws IOException;

    /** Releases the handle after its last descriptor was closed. Is called exactly once and cannot be cancelled. */
    void release();
}
