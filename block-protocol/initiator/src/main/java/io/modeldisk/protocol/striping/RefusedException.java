package io.modeldisk.protocol.striping;

import java.io.IOException;
import java.io.Serial;

/** A shard that is there has said no: to ask again would not help. */
final class RefusedException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    RefusedException(String message) {
        super(message);
    }
}
