package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/**
 * The weights and the aggregator's state of one block. The caller of an aggregator holds the lock of the block, so the aggregator
 * needs no synchronisation.
 */
public interface BlockMemory {
    /** Returns the weights of the block: float32 values in native byte order, aligned to 64 bytes. */
    MemorySegment weights();

    /**
     * Returns the state that the aggregator keeps for the block, aligned to 64 bytes. Its size is
     * {@link Aggregator#stateBytesPerLogicalBlock()} for each logical block of the weights. All bytes are zero before the first
     * update.
     */
    MemorySegment state();

    /** Returns the round to which the gradient belongs, from 1. A learning-rate schedule depends on the round. */
    long round();
}
