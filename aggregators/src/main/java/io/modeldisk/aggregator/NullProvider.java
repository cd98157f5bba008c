package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** Creates the aggregator that discards the gradient. */
public final class NullProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "null";
    }

    @Override
    public String description() {
        return "discards the gradient; for measurements of the transport without aggregation";
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Null();
    }

    private record Null() implements Aggregator {
        @Override
        public Formula formula() {
            return new Formula.Nothing();
        }

        @Override
        public boolean accumulates() {
            return false;
        }

        @Override
        public void aggregate(
            BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale) {
            // The weights stay unchanged.
        }
    }
}
