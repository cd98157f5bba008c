package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/**
 * Folds a gradient into a block's weights: the callback of a write to the train logical unit.
 *
 * <p>Called once for each block that a write touches, with that block locked; calls for different blocks run concurrently.
 * Nothing may be allocated on the way.
 */
public interface Aggregator extends AutoCloseable {
    /** Bytes of {@link BlockMemory#state() state} kept for each byte of weights: 0 for none, 1 for momentum, 2 for adam. */
    default int stateBytesPerWeightByte() {
        return 0;
    }

    /**
     * Whether each new weight depends on the old one, so that a NaN or an infinity in one gradient stays for ever; true by
     * default.
     */
    default boolean accumulates() {
        return true;
    }

    /**
     * Folds {@code scale * gradient[gradientOffset, gradientOffset + lengthBytes)} into the weights at {@code offset}.
     *
     * @param block the locked block
     * @param offset bytes from the block's start; a multiple of 4096
     * @param gradient float32 in native byte order, of which the given range is this block's
     * @param gradientOffset bytes from the segment's start; a multiple of 4
     * @param lengthBytes a multiple of 4; offset + lengthBytes is at most the block's size
     * @param scale the factor of each gradient value: 1, or 1/n for the mean of n learners' summed gradients
     */
    void aggregate(
        BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes, float scale);

    /** Releases the resources of the aggregator; does nothing by default. */
    @Override
    default void close() {}
}
