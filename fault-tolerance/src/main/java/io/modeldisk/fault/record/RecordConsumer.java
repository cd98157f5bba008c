package io.modeldisk.fault.record;

/** Receives the records of a shard in the order of their positions. */
@FunctionalInterface
public interface RecordConsumer {
    /**
     * Applies a record, which is valid only during the call.
     *
     * @throws DamagedRecordException if the record does not fit the state of the shard; the message has the reason
     */
    void apply(RecordHeader recorded) throws DamagedRecordException;

    /**
     * Called after the last record was applied.
     *
     * @throws DamagedRecordException if records are missing; the message has the reason
     */
    default void end() throws DamagedRecordException {}
}
