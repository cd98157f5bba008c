package io.modeldisk.server.fake;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;

/** An aggregator for tests: adds the scaled gradient to the weights. */
public class SumAggregator implements Aggregator {
    private final AtomicInteger callsBeforeFailure = new AtomicInteger(Integer.MAX_VALUE);
    private volatile Runnable failure;
    private boolean closed;

    /**
     * Makes the next {@code calls} calls succeed. The call after them runs {@code thrower}, which throws an exception or an
     * error.
     */
    public void failAfter(int calls, Runnable thrower) {
        failure = thrower;
        callsBeforeFailure.set(calls);
    }

    @Override
    public void aggregate(
        BlockMemory block,
        long offset,
        MemorySegment gradient,
        long gradientOffset,
        long lengthBytes,
        float scale) {
        if (callsBeforeFailure.getAndDecrement() == 0) {
            failure.run();
        }
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
