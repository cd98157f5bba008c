package io.modeldisk.mount.fuse;

/**
 * Wakes the processes that wait in poll(2) for an open file, so the kernel requests the events of the file again. Thread-safe.
 */
public interface PollWakeup {
    /** Wakes the processes. A second call can wake them again. */
    void wake();

    /** Frees this object without waking a process. Does nothing after {@link #wake}. */
    void discard();
}
