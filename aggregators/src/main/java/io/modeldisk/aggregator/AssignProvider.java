package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** Makes the aggregator that overwrites. */
public final class AssignProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "assign";
    }

    @Override
    public String description() {
        return "weights = gradient: the last push wins";
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Assign();
    }

    private record Assign() implements Aggregator {
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
