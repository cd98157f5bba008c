package io.modeldisk.fault.record;

/**
 * The records that a reader of a {@link RecordLog} has not applied yet.
 *
 * @param records the number of records
 * @param bytes their length; the length of a whole batch if the reader has a part of it
 * @param ageNs the time since the oldest of them was appended; 0 if there is none
 */
public record RecordBacklog(long records, long bytes, long ageNs) {}
