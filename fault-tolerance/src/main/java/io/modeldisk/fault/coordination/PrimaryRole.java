package io.modeldisk.fault.coordination;

import java.io.IOException;
import java.util.Set;

/** The part of a {@link ShardRole} with which a primary changes at the coordinator which processes are in sync. */
public interface PrimaryRole {
    /** The id of this process, which is random. */
    String id();

    /** The ids of the processes in sync, as the coordinator knows them. */
    Set<String> inSync();

    /**
     * Sets the processes that have every update which a learner knows to be applied. Only the primary may call this method.
     *
     * @throws IOException if the coordinator did not confirm; it may or may not have the new ids, and this process may not be the
     *     primary any more
     */
    void inSync(Set<String> members) throws IOException;

    /**
     * Withdraws the offer to another process, which is no longer in sync, because it may have begun to prepare.
     *
     * @param to the id of the other process
     * @throws IOException if the coordinator did not confirm; this process may not be the primary any more
     */
    void withdraw(String to) throws IOException;
}
