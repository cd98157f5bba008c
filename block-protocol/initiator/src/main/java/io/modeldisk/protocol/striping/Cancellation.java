package io.modeldisk.protocol.striping;

/** Lets another thread end a wait: a learner that is interrupted while it waits for a round. Thread-safe. */
public final class Cancellation {
    /** Never cancelled. */
    public static final Cancellation NONE = new Cancellation();

    private volatile boolean cancelled;

    /** Ends the waits of the calls that were given this, within a few milliseconds; not for {@link #NONE}. */
    public void cancel() {
        if (this == NONE) {
            throw new IllegalStateException("NONE cannot be cancelled");
        }
        cancelled = true;
    }

    /** Makes it ready for another call. */
    public void reset() {
        cancelled = false;
    }

    /** Whether {@link #cancel} was called. */
    public boolean isCancelled() {
        return cancelled;
    }
}
