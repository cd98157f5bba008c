package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** Creates the aggregator that overwrites the weights with the gradient. */
public final class AssignProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "assign";
    }

    @Override
    public String description() {
        return "weights = gradient; a push overwrites all earlier pushes";
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Assign();
    }

    private record Assign() implements Aggregator {
        @Override
        public Formula formula() {
            return new Formula.Assign();
        }

        @Override
        public boolean accumulates() {
            return false;
        }

        @Override
        public void aggregate(
            BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale) {
            FloatKernels.scaledCopy(block.weights(), offset, gradient, gradientOffset, lengthBytes, scale);
        }
    }
}
