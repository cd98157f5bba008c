package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/**
 * The memory of one block as an aggregator sees it. The caller holds the block's lock while the aggregator runs,
 * so an aggregator needs no synchronisation.
 */
public interface BlockMemory {
    /** The block's weights, float32 in native byte order; 64-byte aligned. */
    MemorySegment weights();

    /**
     * The aggregator's state for the block: {@link Aggregator#stateBytesPerWeightByte()} times the weights' size, zero before the
     * first update. Empty if the aggregator keeps no state.
     */
    MemorySegment state();

    /** How many updates the block has had before this one. */
    long version();
}
