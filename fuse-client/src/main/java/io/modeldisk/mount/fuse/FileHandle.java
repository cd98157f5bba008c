package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;

/**
 * A file that a process has open. Thread-safe: requests of one handle run concurrently. A failure is an {@link ErrnoException} to
 * choose the error; any other becomes EIO, or EINTR when the request was cancelled.
 */
public interface FileHandle {
    /**
     * Reads. Answers through {@link Transfer#reply}, at most once; no answer is an end of file.
     *
     * @param offset 0 or more, may lie past the end
     * @param lengthBytes at most {@link Transfer#MAX_REQUEST_BYTES}
     */
    void read(long offset, int lengthBytes, Transfer transfer) throws IOException;

    /**
     * Writes what lies at the start of the transfer's memory.
     *
     * @return how many bytes were written
     */
    int write(long offset, int lengthBytes, Transfer transfer) throws IOException;

    /** fsync. */
    void synchronize(Cancellation cancellation) throws IOException;

    /**
     * A process has closed one of its descriptors of this handle; {@link #release} follows if it was the last. What this throws
     * is what close(2) answers.
     */
    void flush(Cancellation cancellation) throws IOException;

    /** The last descriptor is closed. Called exactly once, and never cancelled. */
    void release();
}
