package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** Makes the aggregator that does nothing. */
public final class NullProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "null";
    }

    @Override
    public String description() {
        return "discards the gradient, to measure the layers below it";
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Null();
    }

    private record Null() implements Aggregator {
        @Override
        public boolean accumulates() {
            return false;
        }

        @Override
        public void aggregate(
            BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale) {
            // Nothing: the weights stay as they are.
        }
    }
}
