package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** Divides each gradient by the root of a sum of its earlier squares. The state of a weight is this sum. */
final class ScaledBySquares extends Optimizer {
    private final float keep;
    private final float add;
    private final float epsilon;

    /** Creates the optimizer whose sum is {@code keep * sum + add * gradient^2}. */
    ScaledBySquares(AggregatorOptions options, float keep, float add, float defaultEpsilon) {
        super(options, 0);
        this.keep = keep;
        this.add = add;
        this.epsilon = epsilon(options, defaultEpsilon);
    }

    @Override
    public Formula formula() {
        return new Formula.ScaledBySquares(rules(), keep, add, epsilon);
    }

    @Override
    public int stateBytesPerLogicalBlock() {
        return LOGICAL_BLOCK_BYTES;
    }

    @Override
    void update(
        MemorySegment weights, MemorySegment state, long offset, MemorySegment gradient, long gradientOffset,
        long lengthBytes, float factor, float rate) {
        OptimizerKernels.scaledBySquares(weights, state, offset, gradient, gradientOffset, lengthBytes, factor, rules(),
            rate, keep, add, epsilon);
    }
}
