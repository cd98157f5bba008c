package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;
import java.util.List;

/** An iSCSI target: a name, its logical units, and who hears of nexuses coming and going. Thread-safe. */
public interface Target {
    /** The iSCSI name, in lower case. */
    String name();

    /** The logical units, by ascending LUN. */
    List<LogicalUnit> units();

    /** The memory that the units' pins lie in, as far as it is there for as long as the target: devices are told of it. */
    default List<DataMemory> memories() {
        return List.of();
    }

    /** How long this nexus may be silent before its connection is ended, if that is less than the server bears with anybody. */
    default long silenceBoundNanos(Nexus nexus) {
        return Long.MAX_VALUE;
    }

    /** The nexus has not been heard from for so long, though it was pinged; its session is about to end. */
    default void nexusSilent(Nexus nexus, long silentNanos) {}

    /** A session of this nexus has entered full-feature phase. */
    void nexusEstablished(Nexus nexus);

    /**
     * The nexus's session has ended.
     *
     * @param loggedOut whether by a Logout: the initiator left of its own will, and will not be back as the same learner
     */
    void nexusLost(Nexus nexus, boolean loggedOut);
}
