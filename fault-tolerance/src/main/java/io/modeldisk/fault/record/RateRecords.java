package io.modeldisk.fault.record;

import io.modeldisk.aggregator.LearningRate;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes and reads records of the kind {@link RecordKind#RATE}. The body has all changes of the learning rate that the shard
 * keeps: for each change the first round (8 bytes) and the rate (4 bytes, and 4 bytes of zeros), in little endian.
 */
public final class RateRecords {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
        .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int CHANGE_BYTES = 2 * Long.BYTES;

    private RateRecords() {}

    /**
     * Appends a record of the learning rate.
     *
     * @param rate null if the aggregator has none; then nothing is appended
     */
    public static void append(RecordLog log, LearningRate rate) {
        if (rate == null) {
            return;
        }
        // The lock keeps the order: a record with an older list of changes must not follow a record with a newer list.
        synchronized (rate) {
            List<LearningRate.Change> changes = rate.changes();
            log.append(RecordKind.RATE, (byte) 0, -1, 0, 0, 0, 0, changes.size() * CHANGE_BYTES, (memory, start) -> {
                for (int i = 0; i < changes.size(); i++) {
                    long at = start + (long) i * CHANGE_BYTES;
                    memory.set(LONG, at, changes.get(i).fromRound());
                    memory.set(LONG, at + Long.BYTES, 0);
                    memory.set(FLOAT, at + Long.BYTES, changes.get(i).rate());
                }
            });
        }
    }

    /**
     * Replaces the changes of a learning rate by those of a record.
     *
     * @param rate null if the aggregator has none
     * @throws DamagedRecordException if the record does not fit the aggregator; the message has the reason
     */
    public static void restore(RecordHeader record, LearningRate rate) throws DamagedRecordException {
        int count = record.bodyBytes() / CHANGE_BYTES;
        if (rate == null || count > LearningRate.MAX_CHANGES || record.bodyBytes() % CHANGE_BYTES != 0) {
            throw new DamagedRecordException(record + " does not fit the aggregator");
        }
        MemorySegment memory = record.memory();
        List<LearningRate.Change> changes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long at = record.bodyStart() + (long) i * CHANGE_BYTES;
            changes.add(new LearningRate.Change(memory.get(LONG, at), memory.get(FLOAT, at + Long.BYTES)));
        }
        rate.restore(changes);
    }
}
