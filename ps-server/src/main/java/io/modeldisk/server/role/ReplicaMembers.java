package io.modeldisk.server.role;

import io.modeldisk.fault.coordination.PrimaryRole;
import io.modeldisk.fault.replica.BackupMembers;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;

/**
 * The processes of a shard that are in sync with the primary, as the coordinator has recorded them. If the coordinator does not
 * confirm a change, this object keeps the former members, so the caller tries again. If only the response of the coordinator
 * was lost, the coordinator has recorded an addition that is not confirmed. Thread-safe.
 */
public final class ReplicaMembers implements BackupMembers {
    private final PrimaryRole role;
    /** Null until this process is the primary. */
    private Set<String> inSync;
    /** The members that have the records of this primary. */
    private final Set<String> added = new TreeSet<>();
    /** The backups whose addition the coordinator has not confirmed, but may have recorded. */
    private final Set<String> doubtful = new TreeSet<>();

    /** Creates the members of a process that will be the primary. */
    public ReplicaMembers(PrimaryRole role) {
        this.role = role;
        this.added.add(role.id());
    }

    /** Called when this process has become the primary. Takes over the members of the former primary. */
    public synchronized void begin() {
        inSync = Set.copyOf(role.inSync());
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
        doubtful.add(backup);
        write(next);
        added.add(backup);
    }

    @Override
    public synchronized void removeEarlier() throws IOException {
        Set<String> next = inSync();
        if (next.retainAll(added) || !doubtful.isEmpty()) {
            write(next);
        }
    }

    @Override
    public synchronized void remove(String backup) throws IOException {
        Set<String> next = inSync();
        if (next.remove(backup) || doubtful.contains(backup)) {
            write(next);
            added.remove(backup);
        }
    }

    @Override
    public synchronized void removeUnconfirmed() throws IOException {
        if (!doubtful.isEmpty()) {
            write(inSync());
        }
    }

    private void write(Set<String> next) throws IOException {
        role.inSync(next);
        inSync = next;
        // The coordinator has confirmed the complete set of members, so no addition is in doubt.
        doubtful.clear();
    }

    /** Withdraws the offer of a handover to a backup, and removes the backup, which may already have prepared to serve. */
    synchronized void withdraw(String backup) throws IOException {
        role.withdraw(backup);
        Set<String> next = inSync();
        next.remove(backup);
        inSync = next;
        added.remove(backup);
        doubtful.remove(backup);
    }

    /** Returns a backup that has all records; null if there is none. */
    public synchronized String successor() {
        return added.stream().filter(id -> !id.equals(role.id())).findFirst().orElse(null);
    }
}
