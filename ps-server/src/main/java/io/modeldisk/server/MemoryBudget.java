package io.modeldisk.server;

import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.consistency.RoundMarks;

/**
 * The memory that a shard needs, from the model, its blocks and its learners. Checked before any is taken: Linux kills a process
 * that takes more than there is, and a Java heap that is full stops its threads one by one.
 *
 * @param nativeBytes outside the heap: weights, the aggregator's state, in bsp the sums of the open round, spare blocks, and the
 *     buffers for data on its way in
 * @param heapBaseBytes in the heap, whatever the learners: code, sessions, and the blocks' locks, slots and rounds
 * @param heapPerLearnerBytes in the heap for each learner: the rounds it has pushed, by block
 */
record MemoryBudget(long nativeBytes, long heapBaseBytes, long heapPerLearnerBytes) {
    // Measured per block: 162 to 182, 240 to 242, and 312 with 1 and 370 with 16 logical blocks a block; rounded up.
    private static final long ASP_BLOCK_HEAP_BYTES = 200;
    private static final long SSP_BLOCK_HEAP_BYTES = 260;
    private static final long BSP_BLOCK_HEAP_BYTES = 320;
    private static final long SHARD_HEAP_BYTES = 128 << 20;

    /** The need of a shard whose iSCSI server has {@code bufferBytes} of buffers. */
    static MemoryBudget of(ServerSettings settings, long bufferBytes) {
        ModelFacts facts = settings.facts();
        ConsistencyMode mode = settings.consistency();
        long blocks = facts.blocksOfShard();
        int block = facts.blockSizeBytes();
        int copies = 1 + settings.aggregator().stateBytesPerWeightByte() + (mode.appliesWholeRounds() ? 1 : 0);
        int logicalBlocks = block / LogicalBlock.BYTES;
        long blockHeapBytes = switch (mode.kind()) {
            case ASP -> ASP_BLOCK_HEAP_BYTES;
            case SSP -> SSP_BLOCK_HEAP_BYTES;
            case BSP -> BSP_BLOCK_HEAP_BYTES + Integer.BYTES * logicalBlocks;
        };
        return new MemoryBudget((blocks * copies + settings.spareBlocks()) * block + bufferBytes,
            SHARD_HEAP_BYTES + blocks * blockHeapBytes, blocks * RoundMarks.bytesPerBlock(logicalBlocks));
    }

    /** How many learners a heap of this size has room for. */
    int learnersIn(long maxHeapBytes) {
        return Math.clamp((maxHeapBytes - heapBaseBytes) / heapPerLearnerBytes, 0, Integer.MAX_VALUE);
    }

    /**
     * Checks that the shard fits.
     *
     * @param learners how many learners it must have room for
     * @param maxHeapBytes the heap that this process may take
     * @param limit the memory that the machine or a control group leaves this process
     * @throws IllegalArgumentException if it does not, with the need, the memory there is, and a remedy
     */
    void check(int learners, long maxHeapBytes, MemoryLimit limit) {
        long heapBytes = heapBaseBytes + learners * heapPerLearnerBytes;
        if (heapBytes > maxHeapBytes) {
            throw new IllegalArgumentException(
                "the shard needs a Java heap of %s for its blocks and %s learners, and may take %s;"
                    .formatted(ByteSize.format(heapBytes), learners, ByteSize.format(maxHeapBytes))
                    + " set JDK_JAVA_OPTIONS=-Xmx" + ((heapBytes >> 20) + 1)
                    + "m, or use larger blocks (--block-size) or more shards");
        }
        if (!limit.allows(nativeBytes + heapBytes)) {
            throw new IllegalArgumentException(
                "the shard needs %s of memory (%s for weights, aggregator and buffers, %s of Java heap), and there is %s;"
                    .formatted(ByteSize.format(nativeBytes + heapBytes), ByteSize.format(nativeBytes),
                        ByteSize.format(heapBytes), limit.describe())
                    + " use more shards on more machines");
        }
    }
}
