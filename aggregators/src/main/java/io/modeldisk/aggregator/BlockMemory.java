package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/**
 * The memory of one block that an aggregator changes. The caller of the aggregator holds the lock of the block, so the aggregator
 * needs no synchronisation.
 */
public interface BlockMemory {
    /** Returns the weights of the block: float32 values in native byte order, aligned to 64 bytes. */
    MemorySegment weights();

    /**
     * Returns the state that the aggregator keeps for the block. The size of the state is
     * {@link Aggregator#stateBytesPerWeightByte()} times the size of the weights. All bytes of the state are zero before the
     * first update.
     */
    MemorySegment state();

    /** Returns the number of earlier updates of the block. */
    long version();
}
