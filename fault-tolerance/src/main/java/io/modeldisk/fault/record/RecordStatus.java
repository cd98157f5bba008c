package io.modeldisk.fault.record;

/**
 * The progress of a {@link RecordLog}.
 *
 * @param appended the position of the last record
 * @param durable the position of the last record that is durable in every sink
 * @param failure the reason why the shard accepts no changes at present; null if it accepts changes
 */
public record RecordStatus(long appended, long durable, String failure) {}
