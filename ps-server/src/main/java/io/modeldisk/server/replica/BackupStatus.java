package io.modeldisk.server.replica;

/**
 * The progress of a backup.
 *
 * @param name the name of the process
 * @param address its address
 * @param inSync whether the backup has all records that are durable, and may become the primary
 * @param recordsBehind the number of records that it has not applied yet; -1 if the primary has no connection to it
 * @param blocksToSend the number of blocks that it must still get before it is in sync
 * @param reason why the primary has no connection to it; null if it has one
 */
public record BackupStatus(
    String name, String address, boolean inSync, long recordsBehind, int blocksToSend, String reason) {}
