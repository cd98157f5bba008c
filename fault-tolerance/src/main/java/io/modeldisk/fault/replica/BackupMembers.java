package io.modeldisk.fault.replica;

import java.io.IOException;

/**
 * The backups that may become the primary of a shard, as the coordinator stores them. At first, these are the backups of the
 * former primary that had all its records. Thread-safe.
 */
public interface BackupMembers {
    /**
     * Adds a backup that has all records.
     *
     * @throws IOException if the coordinator did not confirm this, or this process is no longer the primary
     */
    void add(String backup) throws IOException;

    /**
     * Removes the backups of the former primary that were not added again, because they do not receive the next record. Before
     * this call, they are members, so one of them becomes the primary if this process ends before its first record.
     *
     * @throws IOException if the coordinator did not confirm this, or this process is no longer the primary
     */
    void removeEarlier() throws IOException;

    /**
     * Removes a backup that might lack records, if it is a member.
     *
     * @throws IOException if the coordinator did not confirm this, or this process is no longer the primary
     */
    void remove(String backup) throws IOException;

    /**
     * Removes the backups whose addition was not confirmed: the coordinator might have added them, although {@link #add} has
     * failed. Does nothing if there is none.
     *
     * @throws IOException if the coordinator did not confirm this, or this process is no longer the primary
     */
    void removeUnconfirmed() throws IOException;
}
