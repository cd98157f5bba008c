package io.modeldisk.fault.coordination;

import java.io.IOException;
import java.util.Set;

/** The methods of a {@link ShardRole} with which a primary changes the set of processes in sync, which the coordinator stores. */
public interface PrimaryRole {
    /** The id of this process, which is random. */
    String id();

    /** The ids of the processes in sync, as the coordinator stores them. */
    Set<String> inSync();

    /**
     * Sets the processes that have every update that was acknowledged to a learner. Only the primary may call this method.
     *
     * @throws IOException if the coordinator did not confirm the change. It might have stored the new ids nevertheless, and this
     *     process might no longer be the primary
     */
    void inSync(Set<String> members) throws IOException;

    /**
     * Withdraws the offer to another process. After this, that process is not in sync, because it might have begun to prepare.
     *
     * @param to the id of the other process
     * @throws IOException if the coordinator did not confirm the change; this process might no longer be the primary
     */
    void withdraw(String to) throws IOException;
}
