package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** The weights and state of one block. The caller holds the block's lock, so the aggregator needs no synchronisation. */
public interface BlockMemory {
    /** Returns the weights of the block: float32 values in native byte order, aligned to 64 bytes. */
    MemorySegment weights();

    /**
     * Returns the aggregator's state of the block, aligned to 64 bytes, and zero before the first update. Its size is
     * {@link Aggregator#stateBytesPerLogicalBlock()} for each logical block of the weights.
     */
    MemorySegment state();

    /** Returns the round to which the gradient belongs, from 1. A learning-rate schedule depends on the round. */
    long round();
}
