package io.modeldisk.server.fake;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** An aggregator for tests: adds the scaled gradient to the weights. */
public class SumAggregator implements Aggregator {
    private boolean closed;

    @Override
    public void aggregate(
        BlockMemory block,
        long offset,
        MemorySegment gradient,
        long gradientOffset,
        long lengthBytes,
        float scale) {
        for (long i = 0; i < lengthBytes; i += Float.BYTES) {
            float value = gradient.get(ValueLayout.JAVA_FLOAT, gradientOffset + i);
            float weight = block.weights().get(ValueLayout.JAVA_FLOAT, offset + i);
            block.weights().set(ValueLayout.JAVA_FLOAT, offset + i, weight + scale * value);
        }
    }

    @Override
    public void close() {
        closed = true;
    }

    public boolean isClosed() {
        return closed;
    }
}
