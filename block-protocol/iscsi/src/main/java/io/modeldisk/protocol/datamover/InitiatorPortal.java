package io.modeldisk.protocol.datamover;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;

/** The way to a target over one kind of datamover. Thread-safe: each call makes another connection. */
public interface InitiatorPortal {
    /** The datamover's name, such as {@code tcp}. */
    String datamover();

    /** The reason why it cannot be used; null if it can. May try to reach the target. */
    default String obstacle() {
        return null;
    }

    /** Whether a task's data must lie in memory that another process can map. */
    boolean needsShareableMemory();

    /** Whether memory must be registered with a device, which takes time, before data moves from or to it. */
    default boolean needsPreparedMemory() {
        return false;
    }

    /**
     * Connects.
     *
     * @param numbering numbers the session's requests
     * @param queueDepth the most commands in flight
     * @param timeoutMs the longest wait for the target's answer
     * @param clock of {@link InitiatorDatamover#sendingSinceNanos()}
     * @throws IOException if the target does not answer in time; the message continues a sentence that begins with the target
     */
    InitiatorDatamover connect(
        InitiatorDatamover.Numbering numbering, int queueDepth, long timeoutMs, NanoClock clock) throws IOException;
}
