package io.modeldisk.server;

import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.block.DeviceTarget;
import io.modeldisk.server.consistency.RoundMarks;
import java.io.IOException;
import java.util.List;

/**
 * The memory that a shard needs for its model, its blocks and its learners. The shard checks the budget before it allocates
 * memory. Without this check, Linux could kill the process, and threads could fail when the Java heap is full.
 *
 * @param parts the memory outside the Java heap
 * @param heapBaseBytes the bytes in the Java heap, regardless of the number of learners: code, sessions, blocks without weights
 * @param heapPerLearnerBytes the bytes in the Java heap for each learner, to record the rounds that it has pushed in each block
 */
public record MemoryBudget(List<Part> parts, long heapBaseBytes, long heapPerLearnerBytes) {
    /** Memory outside the Java heap, and its purpose. */
    public record Part(String purpose, long bytes) {}

    // Measured heap bytes of a block with 1 to 16 logical blocks: 162 to 182 under asp, 240 to 242 under ssp, and 312 to 370
    // under bsp (including 4 bytes for each logical block).
    private static final long ASP_BLOCK_HEAP_BYTES = 200;
    private static final long SSP_BLOCK_HEAP_BYTES = 260;
    private static final long BSP_BLOCK_HEAP_BYTES = 320;
    private static final long DEVICE_BLOCK_HEAP_BYTES = 700;
    private static final long SHARD_HEAP_BYTES = 128 << 20;

    /** Returns the memory that a shard needs. {@link ServerContext#conclude} must have been called. */
    public static MemoryBudget of(ServerContext context) {
        ModelFacts facts = context.facts();
        ConsistencyMode mode = context.mode;
        long blocks = facts.blocksOfShard();
        int block = facts.blockSizeBytes();
        int logicalBlocks = block / LogicalBlock.BYTES;
        long stateBytes = BlockStore.stateStride(block, context.aggregator.stateBytesPerLogicalBlock());
        DeviceTarget device = context.device;
        long blockHeapBytes = (device == null ? 0 : DEVICE_BLOCK_HEAP_BYTES) + switch (mode.kind()) {
            case ASP -> ASP_BLOCK_HEAP_BYTES;
            case SSP -> SSP_BLOCK_HEAP_BYTES;
            case BSP -> BSP_BLOCK_HEAP_BYTES + Integer.BYTES * logicalBlocks;
        };
        long checkpointBytes = context.checkpoints == null
            ? 0
            : CheckpointSettings.COPIES * (block + stateBytes);
        long recordBytes = context.journal == null ? 0 : 2L * RecordLog.DEFAULT_BUFFER_BYTES;
        if (context.backups != null) {
            // Two buffers for the records of a primary, and one for the records that a backup receives.
            recordBytes += 3L * context.backups.bufferBytes();
        }
        return new MemoryBudget(List.of(
            new Part("weights", blocks * block),
            new Part("state of the aggregator", blocks * stateBytes),
            new Part("sums of the open round", mode.appliesWholeRounds() && device == null ? blocks * block : 0),
            new Part("copies for pulls", (long) (context.spareBlocks + BlockStore.scratchBlocks()) * block),
            new Part("copies for checkpoints", checkpointBytes),
            new Part("copies for readers", context.keptBytes()),
            new Part("buffers of sessions", context.network.bufferBytes()),
            new Part("buffers of records", recordBytes),
            new Part("pinned for the device", device == null ? 0 : device.device().provider().hostBytes(block))),
            SHARD_HEAP_BYTES + blocks * blockHeapBytes, blocks * RoundMarks.bytesPerBlock(logicalBlocks));
    }

    /** The memory outside the Java heap. */
    public long nativeBytes() {
        return parts.stream().mapToLong(Part::bytes).sum();
    }

    /** Returns the memory in the Java heap for a number of learners. */
    public long heapBytes(int learners) {
        return heapBaseBytes + learners * heapPerLearnerBytes;
    }

    /** Returns the memory with the Java heap for a number of learners. */
    public long bytes(int learners) {
        return nativeBytes() + heapBytes(learners);
    }

    /** The maximum number of learners that fit in a Java heap of {@code maxHeapBytes}. */
    int learnersIn(long maxHeapBytes) {
        return Math.clamp((maxHeapBytes - heapBaseBytes) / heapPerLearnerBytes, 0, Integer.MAX_VALUE);
    }

    /**
     * Checks that the shard fits in memory.
     *
     * @param learners the number of learners that the shard must support
     * @param maxHeapBytes the maximum size of the Java heap of this process
     * @param limit the available memory of the machine or of the control group of this process
     * @throws IllegalArgumentException if the Java heap is too small; the message states a remedy
     * @throws IOException if there is not enough memory; the message states needed memory, available memory and a remedy
     */
    public void check(int learners, long maxHeapBytes, MemoryLimit limit) throws IOException {
        long heapBytes = heapBytes(learners);
        long nativeBytes = nativeBytes();
        if (heapBytes > maxHeapBytes) {
            throw new IllegalArgumentException(
                PlainText.format(
                    "the shard needs a Java heap of %s for its blocks and %s, but the heap is limited to %s;",
                    ByteSize.format(heapBytes), Plural.counted(learners, "learner"), ByteSize.format(maxHeapBytes))
                    + " set JDK_JAVA_OPTIONS=-Xmx" + ((heapBytes >> 20) + 1)
                    + "m, or use larger blocks (--block-size) or more shards");
        }
        if (!limit.allows(nativeBytes + heapBytes)) {
            // Not an IllegalArgumentException (exit status 2): the memory may be free at the next start.
            throw new IOException(
                PlainText.format(
                    "the shard needs %s of memory (%s for weights, aggregator and buffers, %s of heap), but there is only %s;",
                    ByteSize.format(nativeBytes + heapBytes), ByteSize.format(nativeBytes),
                    ByteSize.format(heapBytes), limit.describe())
                    + " use more shards on more machines");
        }
    }
}
