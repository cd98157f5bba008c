package io.modeldisk.server.consistency;

import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordKind;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.shard.ShardBlock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.LongFunction;

/**
 * The body of a {@link RecordKind#BLOCK}: the state of a block that its weights, its aggregator state and its version do not
 * contain.
 *
 * <pre>
 * int   number of learners
 * int   number of logical blocks of the open round; 0 in asp and ssp
 * int[] for each logical block, the number of gradients in the open round
 *       with {@link RecordHeader#WITH_SUM}, the sum of gradients in the open round, as long as the block
 *       for each learner: long membership number, then its {@linkplain RoundMarks#write marks}
 * </pre>
 */
final class BlockRecords {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private BlockRecords() {}

    /**
     * Appends the record of a block. The caller holds the lock of the block.
     *
     * @param open the open round of the block; null in asp and ssp
     * @param checkpoint the number of the checkpoint that contains the block
     * @throws IOException if a sink has failed
     */
    static long append(RecordLog log, ShardBlock block, RoundBlock open, Learners learners, long checkpoint)
        throws IOException {
        List<Learner> members = learners.roster().members();
        boolean withSum = open != null && open.mostContributions() > 0;
        int counts = open == null ? 0 : open.logicalBlocks();
        int marksBytes = members.isEmpty() ? 0 : members.getFirst().marks().writtenBytes();
        int bodyBytes = 2 * Integer.BYTES + counts * Integer.BYTES + (withSum ? block.lengthBytes() : 0)
            + members.size() * (Long.BYTES + marksBytes);
        // The sum is read before the record takes its place in the log, so a slow device delays no later record.
        MemorySegment sum = withSum ? open.sum() : null;
        long position = log.append(RecordKind.BLOCK, withSum ? RecordHeader.WITH_SUM : 0, block.index(), 0, checkpoint,
            open == null ? -1 : open.round(), block.version(), bodyBytes, (memory, start) -> {
                memory.set(INT, start, members.size());
                memory.set(INT, start + Integer.BYTES, counts);
                long at = start + 2 * Integer.BYTES;
                if (open != null) {
                    at = open.write(memory, at, sum);
                }
                for (Learner member : members) {
                    memory.set(LONG, at, member.number());
                    member.marks().write(block.index(), memory, at + Long.BYTES);
                    at += Long.BYTES + marksBytes;
                }
            });
        if (position < 0) {
            throw new IOException(
                "the record of block " + block.index() + " cannot be kept: " + log.status().failure());
        }
        return position;
    }

    /** Applies the record of a block. {@code learners} returns null for an unknown membership number. */
    static void apply(RecordHeader record, RoundBlock open, LongFunction<Learner> learners) {
        MemorySegment memory = record.memory();
        int members = memory.get(INT, record.bodyStart());
        long at = record.bodyStart() + 2 * Integer.BYTES;
        if (open != null) {
            at = open.read(record.round(), memory, at, record.has(RecordHeader.WITH_SUM));
        }
        long end = record.bodyStart() + record.bodyBytes();
        long stride = members == 0 ? 0 : (end - at) / members;
        for (int i = 0; i < members; i++) {
            Learner learner = learners.apply(memory.get(LONG, at));
            if (learner != null) {
                learner.marks().read(record.block(), memory, at + Long.BYTES);
            }
            at += stride;
        }
    }
}
