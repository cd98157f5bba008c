package io.modeldisk.server.checkpoint;

import java.io.IOException;

/** A shard must be closed and launched again, because the other shards have started from another checkpoint. */
public final class StartAgainException extends IOException {
    private static final long serialVersionUID = 1;

    StartAgainException(String message) {
        super(message);
    }
}
