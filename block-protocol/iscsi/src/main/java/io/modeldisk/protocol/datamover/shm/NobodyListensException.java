package io.modeldisk.protocol.datamover.shm;

import java.io.IOException;
import java.io.Serial;

/** There is no socket, or one whose server is gone. */
final class NobodyListensException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    NobodyListensException(String message) {
        super(message);
    }
}
