package io.modeldisk.platform.linux;

import java.io.IOException;
import java.io.Serial;

/** No process listens at the path of a Unix socket: there is no file, or the process that made it has ended. */
public final class NoListenerException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    NoListenerException(String message) {
        super(message);
    }
}
