package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;
import java.util.List;

/**
 * An iSCSI target with its name and its logical units. The engine notifies the target when a nexus is established, silent or
 * lost. Thread-safe.
 */
public interface Target {
    /** Returns the iSCSI name of the target, in lower case. */
    String name();

    /** Returns the logical units in the order of their LUNs. */
    List<LogicalUnit> units();

    /** Returns the target port groups. The server calls this method once. By default the target has a single group. */
    default TargetPortGroups portGroups() {
        return TargetPortGroups.single();
    }

    /**
     * Returns the memory that read commands may pin. The memory must exist as long as the target, because RDMA devices register
     * the memory once.
     */
    default List<DataMemory> memories() {
        return List.of();
    }

    /** Returns the memory of a device for the data of writes; null if all data must be in host memory. */
    default DeviceWrites deviceWrites() {
        return null;
    }

    /**
     * Returns whether the target may serve at this moment. If not, no command ends with a status, and the engine closes all
     * connections and accepts no others. A target that another process may replace answers false before the other begins.
     */
    default boolean mayServe() {
        return true;
    }

    /**
     * Returns the time in nanoseconds for which a nexus may be silent before its connection is closed. The server's own limit
     * applies if it is shorter.
     */
    default long silenceBoundNs(Nexus nexus) {
        return Long.MAX_VALUE;
    }

    /**
     * Notifies the target that a nexus was silent for {@code silentNs} although its initiator was pinged. The engine closes the
     * session afterwards.
     */
    default void nexusSilent(Nexus nexus, long silentNs) {}

    /** Returns the reason why a nexus may not log in at this moment, for the log; null if it may. */
    default String loginRefusal(Nexus nexus) {
        return null;
    }

    /**
     * Notifies the target that a session of a nexus is about to enter the full-feature phase. If the login still fails, the
     * engine calls {@link #nexusLost}.
     */
    void nexusEstablished(Nexus nexus);

    /**
     * Notifies the target that the session of a nexus is closed or lost.
     *
     * @param loggedOut whether the initiator has logged out, which means that its learner will not reconnect
     */
    void nexusLost(Nexus nexus, boolean loggedOut);
}
