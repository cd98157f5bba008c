package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.Aggregator;
import java.lang.foreign.MemorySegment;

/**
 * The memory of one block of the model on a device.
 *
 * @param weights the weights; the size is a multiple of 4096 bytes
 * @param state the state arrays, each as long as the weights and initially zero; null if {@link FoldKernels#stateArrays} is 0
 * @param updates a 64-bit number of updates for each logical block, in host memory; null unless {@link FoldKernels#countsUpdates}
 */
public record DeviceBlock(DeviceMemory weights, DeviceMemory state, MemorySegment updates) {
    /**
     * Creates a block.
     *
     * @throws IllegalArgumentException if the size or the alignment of a memory range is wrong
     */
    public DeviceBlock {
        checkAligned(weights);
        if (state != null) {
            checkAligned(state);
        }
        long counters = weights.lengthBytes() / Aggregator.LOGICAL_BLOCK_BYTES * Long.BYTES;
        if (updates != null && updates.byteSize() != counters) {
            throw new IllegalArgumentException(
                "the counters of updates have " + updates.byteSize() + " bytes, but must have " + counters);
        }
    }

    private static void checkAligned(DeviceMemory memory) {
        if (memory.lengthBytes() % Aggregator.LOGICAL_BLOCK_BYTES != 0
            || memory.address() % FoldDescriptor.VECTOR_BYTES != 0) {
            throw new IllegalArgumentException("weights and state of a block must be multiples of "
                + Aggregator.LOGICAL_BLOCK_BYTES + " bytes at addresses that are multiples of "
                + FoldDescriptor.VECTOR_BYTES
                + "; this memory has " + memory.lengthBytes() + " bytes at " + Long.toHexString(memory.address()));
        }
    }
}
