package io.modeldisk.aggregator;

import java.lang.foreign.MemorySegment;

/** Creates the aggregator of stochastic gradient descent without momentum. */
public final class SgdProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "sgd";
    }

    @Override
    public String description() {
        return "weights -= lr * gradient; options: lr, the learning rate, above 0 (required)";
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        float learningRate = options.floatOption("lr");
        if (learningRate <= 0) {
            throw new IllegalArgumentException("lr=" + learningRate + " must be above 0");
        }
        return new Sgd(learningRate);
    }

    private record Sgd(float learningRate) implements Aggregator {
        @Override
        public void aggregate(
            BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale) {
            float factor = -learningRate * scale;
            FloatKernels.scaledAdd(block.weights(), offset, gradient, gradientOffset, lengthBytes, factor);
        }
    }
}
