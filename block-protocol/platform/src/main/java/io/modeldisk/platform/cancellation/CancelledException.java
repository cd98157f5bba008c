package io.modeldisk.platform.cancellation;

import java.io.InterruptedIOException;
import java.io.Serial;

/** Thrown by a call that stopped early because its {@link Cancellation} was cancelled. */
public final class CancelledException extends InterruptedIOException {
    @Serial
    private static final long serialVersionUID = 1;

    /** Creates an exception with a general message. */
    public CancelledException() {
        super("the call was cancelled");
    }

    /** Creates an exception whose message names the wait that was cancelled. */
    public CancelledException(String message) {
        super(message);
    }
}
