package io.modeldisk.platform.threads;

import java.io.InterruptedIOException;

/** Reports that a thread was interrupted to callers that expect an {@link java.io.IOException}. */
public final class Interruption {
    private Interruption() {}

    /**
     * Sets the interrupt status of this thread again, and returns the exception for the caller.
     *
     * @param what what the thread did, such as {@code waited for the shards}
     */
    public static InterruptedIOException whileIt(String what) {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("the thread was interrupted while it " + what);
    }
}
