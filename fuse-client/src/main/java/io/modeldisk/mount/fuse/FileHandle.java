package io.modeldisk.mount.fuse;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import java.io.IOException;

/**
 * An open file. Thread-safe: requests on one handle run concurrently. After an {@link ErrnoException}, the process receives the
 * error number of the exception. After any other IOException, the process receives EINTR if the request was cancelled, otherwise
 * {@link FuseFileSystem#errno}.
 */
public interface FileHandle {
    /** The events that poll(2) returns for a file that is always ready: POLLIN, POLLOUT, POLLRDNORM and POLLWRNORM. */
    int ALWAYS_READY = 0x0145;

    /**
     * Reads bytes and replies with {@link DataRequest#reply} at most once. If this method does not reply, the process receives
     * the end of the file.
     *
     * @param offset the offset in the file, which can be past the end of the file
     * @param lengthBytes at most {@link DataRequest#MAX_REQUEST_BYTES}
     */
    void read(long offset, int lengthBytes, DataRequest request) throws IOException;

    /**
     * Starts a read. Another thread ends the read with {@link DataRequest#end}, possibly before this method returns. The commands
     * to the shards can be held back until {@link FuseFileSystem#flush}.
     *
     * @return false if this handle does not start reads; the caller then calls {@link #read}
     */
    default boolean startRead(long offset, int lengthBytes, DataRequest request) throws IOException {
        return false;
    }

    /** Starts a write; see {@link #startRead} and {@link #write}. */
    default boolean startWrite(long offset, int lengthBytes, DataRequest request) throws IOException {
        return false;
    }

    /**
     * Writes the bytes at the start of the request's memory to the file. Default: fails, for a read-only file.
     *
     * @return the number of bytes written
     */
    default int write(long offset, int lengthBytes, DataRequest request) throws IOException {
        throw new ErrnoException(Errno.EACCES, "the file is read-only");
    }

    /**
     * Handles a poll(2), select(2) or epoll(7) of this handle. Must not wait for other processes. Default: the handle is always
     * ready.
     *
     * @param wakeup wakes the process, which waits if this method returns no events; null if the process does not wait. Replaces
     *     the wake-up of an earlier call
     * @return the current events of the handle, as bits of poll(2); 0 if there are none
     */
    default int poll(PollWakeup wakeup) {
        if (wakeup != null) {
            wakeup.discard();
        }
        return ALWAYS_READY;
    }

    /** Handles an fsync(2) on this handle. Default: does nothing, for a file without writes. */
    default void synchronize(Cancellation cancellation) throws IOException {}

    /**
     * Handles a close(2) of one descriptor of this handle. {@link #release} is called after the last descriptor was closed.
     * close(2) fails if this method throws an exception. Default: does nothing, for a file without writes.
     */
    default void flush(Cancellation cancellation) throws IOException {}

    /**
     * Releases the handle after its last descriptor was closed. This method is called exactly once and cannot be cancelled.
     * Default: does nothing, for a handle without resources.
     */
    default void release() {}
}
