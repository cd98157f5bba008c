package io.modeldisk.fault.shard;

import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordKind;
import java.io.IOException;
import java.util.function.LongFunction;

/**
 * The rounds of a shard, which its consistency mode opens and closes. Thread-safe.
 *
 * @param <M> the type of a learner
 */
public interface ShardRounds<M> {
    /**
     * The number of closed rounds of a block; -1 if the mode has no rounds that close. Without the lock of the block, the number
     * can be slightly too low.
     */
    long rounds(int block);

    /**
     * Makes all pushes of rounds after {@code round} wait, because the shard stops after this round. May be called again with a
     * later round. When this method has returned, no such push is in progress. Does nothing if the mode has no rounds that close.
     */
    default void holdAfter(long round) {}

    /**
     * Appends the record of a block that a checkpoint has saved. The caller holds the lock of the block.
     *
     * @param checkpoint the number of the checkpoint; 0 for the image that a backup gets
     * @return the position of the record
     * @throws IOException if a sink has failed; the caller then abandons the checkpoint, which needs this record
     */
    long recordBlock(ShardBlock block, long checkpoint) throws IOException;

    /**
     * Repeats a recorded change: a {@link RecordKind#PUSH} or a {@link RecordKind#CLOSE}. The caller sets the block's version.
     *
     * @param learner the learner of the push; null if it is unknown
     * @throws DamagedRecordException if the record does not follow the state of the block; the message has the reason
     */
    void replay(RecordHeader record, M learner) throws DamagedRecordException;

    /**
     * Restores the open round of a block from the record that {@link #recordBlock} has appended.
     *
     * @param learners returns the learner with a number; null if it is unknown
     */
    void replayBlock(RecordHeader record, LongFunction<M> learners);
}
