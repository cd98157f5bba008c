package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** Stochastic gradient descent without momentum. It has no state. */
final class Sgd extends Optimizer {
    Sgd(AggregatorOptions options) {
        super(options, 0);
    }

    @Override
    public Formula formula() {
        return new Formula.Sgd(rules());
    }

    @Override
    void update(
        MemorySegment weights, MemorySegment state, long offset, MemorySegment gradient, long gradientOffset,
        long lengthBytes, float factor, float rate) {
        if (rules().changeNothing()) {
            FloatKernels.scaledAdd(weights, offset, gradient, gradientOffset, lengthBytes, -rate * factor);
        } else {
            OptimizerKernels.sgd(weights, offset, gradient, gradientOffset, lengthBytes, factor, rules(), rate);
        }
    }
}
