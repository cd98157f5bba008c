package io.modeldisk.protocol.datamover;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;

/** Connects to a target over one kind of datamover. Thread-safe. */
public interface InitiatorPortal {
    /** The datamover's name, such as {@code tcp}. */
    String datamover();

    /** Returns the reason why this datamover cannot reach the target, or null if it can. The check may open a connection. */
    default String obstacle() {
        return null;
    }

    /** True if a task's data must lie in memory that another process can map. */
    default boolean needsShareableMemory() {
        return false;
    }

    /** True if memory must be registered with a device before data is transferred. The registration takes time. */
    default boolean needsPreparedMemory() {
        return false;
    }

    /**
     * Connects to the target.
     *
     * @param numbering assigns sequence numbers to the session's requests
     * @param queueDepth the maximum number of commands in flight
     * @param timeoutMs the maximum time to wait for the target's response, in milliseconds
     * @param clock the clock for {@link InitiatorDatamover#sendingSinceNs()}
     * @throws IOException if the target does not respond in time. The caller adds the target's address to the message
     */
    InitiatorDatamover connect(
        InitiatorDatamover.Numbering numbering, int queueDepth, long timeoutMs, NanoClock clock) throws IOException;
}
