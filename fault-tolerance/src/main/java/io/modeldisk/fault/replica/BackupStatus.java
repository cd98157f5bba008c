package io.modeldisk.fault.replica;

import io.modeldisk.fault.record.RecordBacklog;

/**
 * The progress of a backup.
 *
 * @param name the name of the process
 * @param address its address
 * @param inSync whether the backup has all records that are durable, and may become the primary
 * @param behind the records that it has not applied yet; null if the primary has no connection to it
 * @param blocksToSend the number of blocks that it must still get before it is in sync
 * @param reason why the primary has no connection to it; null if it has one
 */
public record BackupStatus(
    String name, String address, boolean inSync, RecordBacklog behind, int blocksToSend, String reason) {}
