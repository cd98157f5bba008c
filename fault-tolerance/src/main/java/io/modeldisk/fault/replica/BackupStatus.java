package io.modeldisk.fault.replica;

import io.modeldisk.fault.record.RecordBacklog;

/**
 * The progress of a backup.
 *
 * @param name the name of the process
 * @param address the address of the process
 * @param inSync whether the backup has all records that are durable, and may become the primary
 * @param behind the records that the backup has not applied yet; null if the primary has no connection to the backup
 * @param blocksToSend the number of blocks that the backup must still receive before it is in sync
 * @param reason the reason why the primary has no connection to the backup; null if it has one
 */
public record BackupStatus(
    String name, String address, boolean inSync, RecordBacklog behind, int blocksToSend, String reason) {}
