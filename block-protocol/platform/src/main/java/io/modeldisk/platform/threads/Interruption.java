package io.modeldisk.platform.threads;

import java.io.InterruptedIOException;

/**
 * Converts the interruption of a thread into an {@link java.io.IOException}, for methods that declare no
 * {@link InterruptedException}.
 */
public final class Interruption {
    private Interruption() {}

    /**
     * Sets the interrupt status of this thread again, and returns the exception for the caller.
     *
     * @param what the activity that was interrupted, in the past tense, such as {@code waited for the shards}
     */
    public static InterruptedIOException whileIt(String what) {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("the thread was interrupted while it " + what);
    }
}
