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

    /** Returns the logical units, ordered by LUN. */
    List<LogicalUnit> units();

    /** Returns the target port groups. The server calls this method once. By default the target has a single group. */
    default TargetPortGroups portGroups() {
        return TargetPortGroups.single();
    }

    /**
     * Returns the memory areas that read commands can pin. The areas must exist as long as the target, because RDMA devices
     * register them only once.
     */
    default List<DataMemory> memories() {
        return List.of();
    }

    /**
     * Returns the device memory, for example of a GPU, that can receive the data of writes; null if all data must be in host
     * memory.
     */
    default DeviceWrites deviceWrites() {
        return null;
    }

    /**
     * Returns whether the target is allowed to serve at this moment. While this method returns false, the engine sends no status,
     * closes all connections and accepts no new ones. If another process takes over the target, this method must return false
     * before that process begins to serve.
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

    /**
     * Notifies the target that a nexus was silent for {@code silentNs}, although the engine had pinged its initiator. The engine
     * closes the session afterwards.
     */
    default void nexusSilent(Nexus nexus, long silentNs) {}

    /**
     * Returns the reason why a nexus must not log in at this moment, as text for the log; null if the nexus is allowed to log in.
     */
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
