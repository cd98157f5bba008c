package io.modeldisk.server.fake;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * An aggregator with state for tests. The state of a weight depends on all its earlier gradients, on their order and on their
 * rounds. Each update adds the new state to the weight.
 */
public final class CountingAggregator implements Aggregator {
    private static final float DECAY = 0.75f;

    @Override
    public int stateBytesPerLogicalBlock() {
        return LOGICAL_BLOCK_BYTES;
    }

    @Override
    public void aggregate(
        BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes, float scale) {
        for (long i = 0; i < lengthBytes; i += Float.BYTES) {
            float momentum = block.state().get(ValueLayout.JAVA_FLOAT, offset + i) * DECAY + block.round()
                + scale * gradient.get(ValueLayout.JAVA_FLOAT, gradientOffset + i);
            block.state().set(ValueLayout.JAVA_FLOAT, offset + i, momentum);
            block.weights().set(ValueLayout.JAVA_FLOAT, offset + i,
                block.weights().get(ValueLayout.JAVA_FLOAT, offset + i) + momentum);
        }
    }
}
