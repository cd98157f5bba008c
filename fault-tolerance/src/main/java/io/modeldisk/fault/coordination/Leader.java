package io.modeldisk.fault.coordination;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Set;
import java.util.TreeSet;

/**
 * The contents of the znode {@code leader} of a shard, which is the fence: it is changed only by versioned writes, so only one of
 * several candidates can become the primary.
 *
 * @param epoch the number of the primary, from 1; each takeover increases it
 * @param replica the id of the primary
 * @param address the address at which the primary serves ({@code HOST:PORT}); null as long as it does not serve
 * @param inSync the ids of the replicas that have every update that was acknowledged to a learner
 * @param successor the id of the replica that may become the primary of the next epoch now, although the primary is alive; null
 *     if there is none
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Leader(long epoch, String replica, String address, Set<String> inSync, String successor) {
    /** Copies the ids. */
    public Leader {
        inSync = inSync == null ? Set.of() : Set.copyOf(inSync);
    }

    boolean isOf(String id, long inEpoch) {
        return replica.equals(id) && epoch == inEpoch;
    }

    /** Returns whether the primary offers the next epoch to a replica, which has all updates. */
    boolean isOfferedTo(String id) {
        return id.equals(successor) && inSync.contains(id);
    }

    Leader withAddress(String served) {
        return new Leader(epoch, replica, served, inSync, successor);
    }

    Leader withInSync(Set<String> members) {
        return new Leader(epoch, replica, address, members, successor);
    }

    Leader withSuccessor(String id) {
        return new Leader(epoch, replica, address, inSync, id);
    }

    /** Returns the leader of the next epoch. */
    Leader next(String id, Set<String> members) {
        return new Leader(epoch + 1, id, null, members, null);
    }

    /** Returns {@link #inSync} without one member. */
    Set<String> inSyncWithout(String id) {
        Set<String> rest = new TreeSet<>(inSync);
        rest.remove(id);
        return rest;
    }
}
