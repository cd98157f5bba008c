package io.modeldisk.server.replica;

import java.io.IOException;

/** The backups that may become the primary of a shard, as the coordinator knows them. Thread-safe. */
public interface BackupMembers {
    /**
     * Adds a backup that has all records.
     *
     * @throws IOException if the coordinator did not confirm this, or this process is no longer the primary
     */
    void add(String backup) throws IOException;

    /**
     * Removes a backup that may lack records.
     *
     * @throws IOException if the coordinator did not confirm this, or this process is no longer the primary
     */
    void remove(String backup) throws IOException;
}
