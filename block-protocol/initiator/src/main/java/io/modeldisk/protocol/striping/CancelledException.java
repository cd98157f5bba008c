package io.modeldisk.protocol.striping;

import java.io.IOException;
import java.io.Serial;

/** A call ended because its {@link Cancellation} was cancelled. */
public final class CancelledException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    /** A cancelled call. */
    public CancelledException() {
        super("cancelled");
    }
}
