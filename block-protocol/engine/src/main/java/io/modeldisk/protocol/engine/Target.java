package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;
import java.util.List;

/** An iSCSI target: its name, its logical units, and a listener for its nexuses. Thread-safe. */
public interface Target {
    /** The iSCSI name, in lower case. */
    String name();

    /** The logical units in the order of their LUNs. */
    List<LogicalUnit> units();

    /** The memory of the units' pins that exists as long as the target: it is registered with devices once. */
    default List<DataMemory> memories() {
        return List.of();
    }

    /** How long this nexus may be silent before its connection is ended; the server's own bound applies if it is less. */
    default long silenceBoundNs(Nexus nexus) {
        return Long.MAX_VALUE;
    }

    /** The nexus has been silent for {@code silentNs} although it was pinged. Its session is about to end. */
    default void nexusSilent(Nexus nexus, long silentNs) {}

    /** A session of this nexus has entered full-feature phase. */
    void nexusEstablished(Nexus nexus);

    /**
     * The nexus's session has ended.
     *
     * @param loggedOut whether the initiator has logged out: it will not come back as the same learner
     */
    void nexusLost(Nexus nexus, boolean loggedOut);
}
