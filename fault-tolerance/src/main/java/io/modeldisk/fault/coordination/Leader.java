package io.modeldisk.fault.coordination;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.Set;
import java.util.TreeSet;

/**
 * The contents of the znode {@code leader} of a shard, which is the fence: it is changed only by versioned writes, so that of two
 * processes that want to become primary only one succeeds.
 *
 * @param epoch the number of the primary, from 1; each take-over increases it
 * @param replica the id of the primary
 * @param address the address at which the primary serves ({@code HOST:PORT}); null as long as it does not serve
 * @param inSync the ids of the replicas that have every update which a learner knows to be applied
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Leader(long epoch, String replica, String address, Set<String> inSync) {
    /** Copies the ids. */
    public Leader {
        inSync = inSync == null ? Set.of() : Set.copyOf(inSync);
    }

    boolean isOf(String id, long inEpoch) {
        return replica.equals(id) && epoch == inEpoch;
    }

    Leader withAddress(String served) {
        return new Leader(epoch, replica, served, inSync);
    }

    Leader withInSync(Set<String> members) {
        return new Leader(epoch, replica, address, members);
    }

    /** Returns the leader of the next epoch. */
    Leader next(String id, Set<String> members) {
        return new Leader(epoch + 1, id, null, members);
    }

    /** Returns the members of {@link #inSync} after a member has taken over. */
    Set<String> withoutPrimary() {
        Set<String> rest = new TreeSet<>(inSync);
        rest.remove(replica);
        return rest;
    }
}
