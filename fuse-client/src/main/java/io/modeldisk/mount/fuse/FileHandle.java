package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;

/**
 * An open file. Thread-safe: requests of one handle run concurrently. An IOException is answered as {@link FuseFileSystem#errno}
 * says, and with EINTR if the request was cancelled.
 */
public interface FileHandle {
    /**
     * Reads. Replies with {@link DataRequest#reply} at most once; no reply is an end of file.
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

    /** fsync. */
    void synchronize(Cancellation cancellation) throws IOException;

    /**
     * A process has closed a descriptor of this handle. {@link #release} follows if it was the last one. close(2) fails if this
     * throws.
     */
    void flush(Cancellation cancellation) throws IOException;

    /** The last descriptor is closed. Called exactly once, and never cancelled. */
    void release();
}
