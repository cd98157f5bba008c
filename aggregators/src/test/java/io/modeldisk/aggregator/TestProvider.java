package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/** Provides an aggregator whose close sets {@code closed}. ServiceLoader finds it, like a provider in another jar. */
public record TestProvider(AtomicBoolean closed) implements AggregatorProvider {
    public TestProvider() {
        this(new AtomicBoolean());
    }

    @Override
    public String name() {
        return "test";
    }

    @Override
    public String description() {
        return "records whether it was closed";
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Aggregator() {
            @Override
            public void aggregate(
                BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
                float scale) {
                throw new UnsupportedOperationException();
            }

            @Override
            public void close() {
                closed.set(true);
            }
        };
    }
}
