package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/**
 * Applies gradients to the weights of blocks.
 *
 * <p>A shard calls the aggregator for each range of a block to which the shard applies a gradient or the sum of the gradients of
 * a round. The block is locked during the call. Calls for different blocks run concurrently. A call must not allocate memory.
 */
public interface Aggregator extends AutoCloseable {
    /** The unit of updates in bytes: a shard updates whole logical blocks. */
    int LOGICAL_BLOCK_BYTES = 4096;

    /** Returns the number of bytes of {@link BlockMemory#state() state} for each logical block of weights. The default is 0. */
    default int stateBytesPerLogicalBlock() {
        return 0;
    }

    /** Returns the formula with which a GPU computes the same weights, or null, the default, if a GPU cannot compute them. */
    default Formula formula() {
        return null;
    }

    /**
     * Returns true if the result depends on how an update of a block is divided into ranges. Such an aggregator is allowed only
     * in consistency modes that apply whole rounds. The default is false.
     */
    default boolean needsWholeRounds() {
        return false;
    }

    /** Returns the learning rate, which can be changed while the aggregator is in use, or null, the default, if there is none. */
    default LearningRate learningRate() {
        return null;
    }

    /**
     * Returns true if each new weight is computed from the old weight and the gradient. A NaN or an infinity in one gradient then
     * stays in the weights after later gradients. The default is true.
     */
    default boolean accumulates() {
        return true;
    }

    /**
     * Applies {@code scale * gradient[gradientOffset, gradientOffset + lengthBytes)} to the weights at {@code offset}.
     *
     * @param block the locked block
     * @param offset the offset in bytes from the start of the block; a multiple of 4096
     * @param gradient float32 values in native byte order
     * @param gradientOffset the offset in bytes of the first value in {@code gradient}; a multiple of 4
     * @param lengthBytes a multiple of 4096; {@code offset + lengthBytes} is at most the size of the block
     * @param scale the factor of each gradient value: 1, or 1/n if the gradient is the sum of the gradients of n learners
     */
    void aggregate(
        BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes, float scale);

    /** Releases the resources of the aggregator. The default does nothing. */
    @Override
    default void close() {}
}
