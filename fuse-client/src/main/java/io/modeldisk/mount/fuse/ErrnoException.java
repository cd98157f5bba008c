package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import java.io.IOException;
import java.io.Serial;

/** Ends a request with this error number; its message is for the log. */
public final class ErrnoException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    private final Errno errno;

    /** A failure with its reason in words. */
    public ErrnoException(Errno errno, String message) {
        super(message);
        this.errno = errno;
    }

    /** A failure with its reason in words, and what it came from. */
    public ErrnoException(Errno errno, String message, Throwable cause) {
        super(message, cause);
        this.errno = errno;
    }

    /** What to tell the process. */
    public Errno errno() {
        return errno;
    }
}
