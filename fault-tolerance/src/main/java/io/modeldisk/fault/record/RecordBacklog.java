package io.modeldisk.fault.record;

/**
 * The records that a reader of a {@link RecordLog} has not applied yet.
 *
 * @param records the number of records
 * @param bytes the length of these records; if the reader has applied a part of a batch, the whole batch counts
 * @param ageNs the time since the oldest of them was appended; 0 if there is none
 */
public record RecordBacklog(long records, long bytes, long ageNs) {}
