package io.modeldisk.protocol.datamover;

import java.io.IOException;

/** The way to a target over one kind of datamover. Thread-safe: each call makes a connection of its own. */
public interface InitiatorPortal {
    /** The datamover's name, as {@code tcp}. */
    String datamover();

    /** Why it cannot be used, or null if it can. May try to reach the target. */
    default String obstacle() {
        return null;
    }

    /** Whether a task's data must lie in memory that another process can map. */
    boolean needsShareableMemory();

    /** Whether memory is made known to a device, which takes time, before data moves from or to it. */
    default boolean needsPreparedMemory() {
        return false;
    }

    /**
     * Connects.
     *
     * @param numbering gives out the numbers of the session's requests
     * @param queueDepth how many commands are in flight at most
     * @param timeoutMillis how long that may take
     * @throws IOException if there is no answer, or none in time, in words that say so of the target
     */
    InitiatorDatamover connect(InitiatorDatamover.Numbering numbering, int queueDepth, long timeoutMillis)
        throws IOException;
}
