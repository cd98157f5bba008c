package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import java.io.IOException;
import java.io.Serial;

/** A failure of a request, with the error number that the process receives and a message for the log. */
public final class ErrnoException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    private final Errno errno;

    /** Creates a failure without a cause. */
    public ErrnoException(Errno errno, String message) {
        super(message);
        this.errno = errno;
    }

    /** Creates a failure with a cause. */
    public ErrnoException(Errno errno, String message, Throwable cause) {
        super(message, cause);
        this.errno = errno;
    }

    /** Returns the error number that the process receives for its request. */
    public Errno errno() {
        return errno;
    }
}
