package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;
import java.util.List;

/** An iSCSI target. The engine notifies the target when a nexus is established, silent or lost. Thread-safe. */
public interface Target {
    /** Returns the iSCSI name of the target, in lower case. */
    String name();

    /** Returns the logical units, ordered by LUN. */
    List<LogicalUnit> units();

    /** Returns the target port groups. The server calls this method once. By default the target has a single group. */
    default TargetPortGroups portGroups() {
        return TargetPortGroups.single();
    }

    /** Returns the memory that reads can pin, which must exist as long as the target: RDMA devices register it only once. */
    default List<DataMemory> memories() {
        return List.of();
    }

    /** Returns the device memory, for example of a GPU, for the data of writes; null if all data must be in host memory. */
    default DeviceWrites deviceWrites() {
        return null;
    }

    /**
     * Returns whether the target is allowed to serve now. While this method returns false, the engine sends no status, closes all
     * connections and accepts no new ones. Must return false before another process begins to serve the target.
     */
    default boolean mayServe() {
        return true;
    }

    /**
     * Returns the time in nanoseconds for which a nexus can be silent before its connection is closed. If the server's own limit
     * is shorter, that limit applies.
     */
    default long silenceBoundNs(Nexus nexus) {
        return Long.MAX_VALUE;
    }

    /** Notifies the target that a nexus was silent for {@code silentNs} despite a ping. The engine then closes the session. */
    default void nexusSilent(Nexus nexus, long silentNs) {}

    /** Returns the reason why a nexus must not log in now, as text for the log; null if the nexus is allowed to log in. */
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
