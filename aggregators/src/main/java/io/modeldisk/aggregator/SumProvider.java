package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** Creates the aggregator that adds the gradient to the weights. */
public final class SumProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "sum";
    }

    @Override
    public String description() {
        return "weights += gradient";
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Sum();
    }

    private record Sum() implements Aggregator {
        @Override
        public Formula formula() {
            return new Formula.Sum();
        }

        @Override
        public void aggregate(
            BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale) {
            FloatKernels.scaledAdd(block.weights(), offset, gradient, gradientOffset, lengthBytes, scale);
        }
    }
}
