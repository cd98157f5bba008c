package io.modeldisk.server;

import io.modeldisk.fault.coordination.ShardRole;
import io.modeldisk.server.replica.BackupMembers;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;

/**
 * The processes of a shard that are in sync with the primary, as the coordinator knows them. If the coordinator does not confirm
 * a change, this object keeps the former members, so that the caller tries again. Thread-safe.
 */
final class ReplicaMembers implements BackupMembers {
    private final ShardRole role;
    /** Null until this process is the primary. */
    private Set<String> inSync;
    /** The members that have the records of this primary. */
    private final Set<String> added = new TreeSet<>();

    /** Creates the members of a process that will be the primary. */
    ReplicaMembers(ShardRole role) {
        this.role = role;
        this.added.add(role.id());
    }

    /** This process is the primary now. The members are those of its predecessor. */
    synchronized void begin() {
        inSync = Set.copyOf(role.leader().inSync());
    }

    private Set<String> inSync() throws IOException {
        if (inSync == null) {
            throw new IOException("this process is not the primary yet");
        }
        return new TreeSet<>(inSync);
    }

    @Override
    public synchronized void add(String backup) throws IOException {
        Set<String> next = inSync();
        next.add(backup);
        write(next);
        added.add(backup);
    }

    @Override
    public synchronized void removeEarlier() throws IOException {
        Set<String> next = inSync();
        if (next.retainAll(added)) {
            write(next);
        }
    }

    @Override
    public synchronized void remove(String backup) throws IOException {
        Set<String> next = inSync();
        if (next.remove(backup)) {
            write(next);
            added.remove(backup);
        }
    }

    private void write(Set<String> next) throws IOException {
        role.inSync(next);
        inSync = next;
    }

    /** Withdraws the offer to a backup that may have prepared to serve, and removes it. */
    synchronized void withdraw(String backup) throws IOException {
        role.withdraw(backup);
        Set<String> next = inSync();
        next.remove(backup);
        inSync = next;
        added.remove(backup);
    }

    /** Returns a backup that has all records; null if there is none. */
    synchronized String successor() {
        return added.stream().filter(id -> !id.equals(role.id())).findFirst().orElse(null);
    }
}
