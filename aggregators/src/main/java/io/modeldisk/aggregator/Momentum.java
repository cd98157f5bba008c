package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** Stochastic gradient descent with momentum, or with Nesterov's momentum. The state of a weight is its velocity. */
final class Momentum extends Optimizer {
    private final float momentum;
    private final boolean nesterov;

    Momentum(AggregatorOptions options, boolean nesterov) {
        super(options, 0);
        this.momentum = (float) fraction(options, "momentum", 0.9);
        this.nesterov = nesterov;
    }

    @Override
    public Formula formula() {
        return new Formula.Momentum(rules(), momentum, nesterov);
    }

    @Override
    public int stateBytesPerLogicalBlock() {
        return LOGICAL_BLOCK_BYTES;
    }

    @Override
    void update(
        MemorySegment weights, MemorySegment state, long offset, MemorySegment gradient, long gradientOffset,
        long lengthBytes, float factor, float rate) {
        OptimizerKernels.momentum(weights, state, offset, gradient, gradientOffset, lengthBytes, factor, rules(), rate,
            momentum, nesterov);
    }
}
