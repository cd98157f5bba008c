package io.modeldisk.mount.fuse;

/** Wakes the processes that wait in poll(2) for an open file, so they ask for its events again. Thread-safe. */
public interface PollWakeup {
    /** Wakes the processes. A second call may wake them again. */
    void wake();

    /** Frees this object without waking anyone. Does nothing after {@link #wake}. */
    void discard();
}
