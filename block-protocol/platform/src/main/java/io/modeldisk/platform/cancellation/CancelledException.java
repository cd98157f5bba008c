package io.modeldisk.platform.cancellation;

import java.io.InterruptedIOException;
import java.io.Serial;

/** A call ended early because its {@link Cancellation} was cancelled. */
public final class CancelledException extends InterruptedIOException {
    @Serial
    private static final long serialVersionUID = 1;

    /** A cancelled call. */
    public CancelledException() {
        super("cancelled");
    }

    /** A cancelled call, with the wait that was ended. */
    public CancelledException(String message) {
        super(message);
    }
}
