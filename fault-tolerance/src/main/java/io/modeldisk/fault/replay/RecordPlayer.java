package io.modeldisk.fault.replay;

import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.membership.Member;
import io.modeldisk.fault.membership.Membership;
import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.MemberRecords;
import io.modeldisk.fault.record.RateRecords;
import io.modeldisk.fault.record.RecordConsumer;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.fault.shard.ShardBlocks;
import io.modeldisk.fault.shard.ShardRounds;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.engine.Nexus;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * Applies recorded changes to a shard that has just started. After all records, the shard has the weights, versions, open rounds,
 * learners and partitions of the process that wrote the records. All learners are lost at first, and their leases start.
 *
 * <p>If the shard has started from a checkpoint, the records of a block have no effect before its BLOCK record, which shows that
 * the checkpoint has saved the block. Not thread-safe.
 */
public final class RecordPlayer<M extends Member<Nexus>> implements RecordConsumer {
    private final ShardBlocks store;
    private final ShardRounds<M> consistency;
    private final Membership<Nexus, M> learners;
    /** The learning rate of the aggregator; null if it has none. */
    private final LearningRate learningRate;
    private final long checkpoint;
    /** For each block, whether its records have an effect. */
    private final boolean[] started;
    private final Map<Long, M> byNumber = new HashMap<>();
    /** The position of the last record that was applied; 0 if there is none. */
    private long position;

    /**
     * Creates a player.
     *
     * @param learningRate the learning rate of the aggregator; null if it has none
     * @param checkpoint the number in the {@link io.modeldisk.fault.record.RecordKind#BLOCK BLOCK} records of the checkpoint from
     *     which the shard has started; 0 if the shard has started from its initial weights
     */
    public RecordPlayer(ShardBlocks store, ShardRounds<M> consistency, Membership<Nexus, M> learners,
        LearningRate learningRate,
        long checkpoint) {
        this.store = store;
        this.consistency = consistency;
        this.learners = learners;
        this.learningRate = learningRate;
        this.checkpoint = checkpoint;
        this.started = new boolean[store.layout().blocks()];
    }

    /**
     * Applies the next record. Does nothing if the record was applied before. The record must be aligned to 8 bytes.
     *
     * @throws DamagedRecordException if a record is missing before this record, or the record does not fit the shard; the message
     *     has the reason
     */
    @Override
    public void apply(RecordHeader record) throws DamagedRecordException {
        if (record.position() <= position) {
            return;
        }
        if (position > 0 && record.position() != position + 1) {
            throw new DamagedRecordException(record + " does not follow record " + position + "; records are missing");
        }
        repeat(record);
        position = record.position();
    }

    /**
     * Applies a record without a check of its position, for a caller that has checked the positions.
     *
     * @throws DamagedRecordException if the record does not fit the shard; the message has the reason
     */
    public void repeat(RecordHeader record) throws DamagedRecordException {
        try {
            switch (record.kind()) {
                case LEARNER -> {
                    learners.repeat(MemberRecords.change(record));
                    numberLearners();
                }
                case ROSTER -> {
                    learners.restore(MemberRecords.roster(record));
                    numberLearners();
                }
                case RATE -> {
                    // Earlier gradients must be applied with the earlier rate.
                    store.awaitDevice();
                    RateRecords.restore(record, learningRate);
                }
                case PUSH, CLOSE, RAW, BLOCK -> applyToBlock(record);
                case IMAGE -> throw new DamagedRecordException(record + " is only for a backup");
            }
        } catch (IllegalArgumentException e) {
            throw new DamagedRecordException(record + " does not fit the shard: " + e.getMessage());
        }
    }

    private void numberLearners() {
        byNumber.clear();
        learners.roster().members().forEach(member -> byNumber.put(member.number(), member));
    }

    private void applyToBlock(RecordHeader record) throws DamagedRecordException {
        int index = record.block();
        if (index < 0 || index >= started.length || record.offset() < 0
            || (long) record.offset() + record.rangeBytes() > store.layout().lengthOf(index)) {
            throw new DamagedRecordException(record + " is outside the " + started.length + " blocks of the shard");
        }
        ShardBlock block = store.block(index);
        try (ScopedLock.Held _ = block.hold()) {
            switch (record.kind()) {
                case PUSH -> {
                    learners.opened(record.round());
                    change(block, record);
                }
                case CLOSE -> {
                    learners.opened(record.round() - 1);
                    change(block, record);
                }
                case BLOCK -> start(block, record);
                default -> change(block, record);
            }
        }
    }

    private void change(ShardBlock block, RecordHeader record) throws DamagedRecordException {
        if (checkpoint != 0 && !started[block.index()]) {
            return;
        }
        long version = block.version();
        if (record.version() != version && record.version() != version + 1) {
            throw new DamagedRecordException(record + " does not follow version " + version + " of the block");
        }
        switch (record.kind()) {
            case RAW -> replace(block, record);
            default -> consistency.replay(record, byNumber.get(record.learner()));
        }
        block.restoreVersion(record.version());
    }

    private static void replace(ShardBlock block, RecordHeader record) {
        MemorySegment range = block.writable().weights().asSlice(record.offset(), record.rangeBytes());
        if (record.bodyBytes() == 0) {
            range.fill((byte) 0);
        }
        for (int at = 0; at < record.rangeBytes() && record.bodyBytes() > 0; at += record.bodyBytes()) {
            MemorySegment.copy(record.memory(), record.bodyStart(), range, at, record.bodyBytes());
        }
    }

    private void start(ShardBlock block, RecordHeader record) throws DamagedRecordException {
        if (record.checkpoint() != checkpoint) {
            // This record belongs to another checkpoint, which is older or was not completed.
            return;
        }
        if (record.version() != block.version()) {
            throw new DamagedRecordException(
                record + " has another version than the block in the checkpoint, which has version "
                    + block.version());
        }
        consistency.replayBlock(record, byNumber::get);
        started[block.index()] = true;
    }

    /** If the shard has started from a checkpoint, checks that the BLOCK record of the checkpoint was applied for each block. */
    @Override
    public void end() throws DamagedRecordException {
        for (int i = 0; checkpoint != 0 && i < started.length; i++) {
            if (!started[i]) {
                throw new DamagedRecordException(
                    "the records up to " + position + " do not show that block " + i
                        + " is in the checkpoint from which the shard has started; records are missing");
            }
        }
    }
}
