package io.modeldisk.platform.linux;

import java.io.IOException;
import java.io.Serial;

/** Thrown if no process listens at the path of a Unix socket: the file is missing, or the process that created it has exited. */
public final class NoListenerException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    NoListenerException(String message) {
        super(message);
    }
}
