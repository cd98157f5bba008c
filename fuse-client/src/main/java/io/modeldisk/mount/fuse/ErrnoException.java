package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import java.io.IOException;
import java.io.Serial;

/** A failure that names its error number; the message is logged. */
public final class ErrnoException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    private final Errno errno;

    /** A failure. */
    public ErrnoException(Errno errno, String message) {
        super(message);
        this.errno = errno;
    }

    /** A failure with its cause. */
    public ErrnoException(Errno errno, String message, Throwable cause) {
        super(message, cause);
        this.errno = errno;
    }

    /** The error number for the process. */
    public Errno errno() {
        return errno;
    }
}
