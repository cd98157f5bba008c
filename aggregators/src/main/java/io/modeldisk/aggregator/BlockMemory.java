package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/**
 * The memory of one block as an aggregator sees it. The caller holds the block's lock for as long as the aggregator runs,
 * so an aggregator needs no synchronisation of its own.
 */
public interface BlockMemory {
    /** The block's weights, float32 in native byte order; 64-byte aligned. */
    MemorySegment weights();

    /**
     * What the aggregator remembers of the block: {@link Aggregator#stateBytesPerWeightByte()} times the weights' size, zero
     * before the first update. Empty if the aggregator asks for none.
     */
    MemorySegment state();

    /** How many updates the block has had before this one. */
    long version();
}
