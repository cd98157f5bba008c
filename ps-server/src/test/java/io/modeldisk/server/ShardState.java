package io.modeldisk.server;

import io.modeldisk.fault.membership.MembershipImage;
import io.modeldisk.fault.record.MemberRecords;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordKind;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.fake.MemorySink;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * The whole state of a shard while no operation is in progress, for comparisons. The state is read from records that the shard
 * appends to its log: one for each block, with {@link #NO_CHECKPOINT}, and one with the roster.
 */
record ShardState(List<BlockState> blocks, MembershipImage<Nexus> learners) {
    /** The number of a checkpoint that no shard starts from. */
    static final long NO_CHECKPOINT = -1;

    private static final int PAGE = 4096;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /**
     * The state of a block. Weights, state and sum are checksums. The checksum in {@code sum} is 0 for a logical block without a
     * gradient in the open round.
     */
    record BlockState(long version, long round, int weights, int state, List<Integer> gradients, List<Integer> sum,
        TreeMap<Long, String> marks) {}

    /** Reads the state of a shard that keeps its records in this sink. */
    static ShardState of(ShardModel shard, MemorySink sink) throws Exception {
        List<int[]> memory = new ArrayList<>();
        int blocks = shard.store().layout().blocks();
        long first = 0;
        for (int i = 0; i < blocks; i++) {
            Block block = shard.store().block(i);
            try (ScopedLock.Held _ = block.hold()) {
                memory.add(new int[]{checksum(block.readable().weights()), checksum(block.state())});
                long position = shard.consistency().recordBlock(block, NO_CHECKPOINT);
                first = i == 0 ? position : first;
            }
        }
        long roster = MemberRecords.appendRoster(shard.learners(), shard.records());
        sink.await(roster);
        List<RecordHeader> records = sink.records();
        int at = (int) (first - records.getFirst().position());
        List<BlockState> states = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            states.add(block(records.get(at + i), memory.get(i)));
        }
        return new ShardState(states, MemberRecords.roster(records.get(at + blocks)));
    }

    private static BlockState block(RecordHeader record, int[] memory) {
        if (record.kind() != RecordKind.BLOCK) {
            throw new AssertionError(record);
        }
        MemorySegment body = record.memory().asSlice(record.bodyStart(), record.bodyBytes());
        int members = body.get(INT, 0);
        int logicalBlocks = body.get(INT, Integer.BYTES);
        long at = 2 * Integer.BYTES;
        List<Integer> gradients = new ArrayList<>();
        for (int i = 0; i < logicalBlocks; i++) {
            gradients.add(body.get(INT, at));
            at += Integer.BYTES;
        }
        List<Integer> sum = new ArrayList<>();
        for (int i = 0; i < logicalBlocks && record.has(RecordHeader.WITH_SUM); i++) {
            sum.add(gradients.get(i) == 0 ? 0 : checksum(body.asSlice(at, PAGE)));
            at += PAGE;
        }
        TreeMap<Long, String> marks = new TreeMap<>();
        long stride = members == 0 ? 0 : (body.byteSize() - at) / members;
        for (int i = 0; i < members; i++) {
            StringBuilder words = new StringBuilder();
            for (long word = Long.BYTES; word < stride; word += Long.BYTES) {
                words.append(Long.toHexString(body.get(LONG, at + word))).append(' ');
            }
            marks.put(body.get(LONG, at), words.toString());
            at += stride;
        }
        return new BlockState(record.version(), record.round(), memory[0], memory[1], gradients, sum, marks);
    }

    private static int checksum(MemorySegment bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.toArray(ValueLayout.JAVA_BYTE));
        return (int) checksum.getValue();
    }
}
