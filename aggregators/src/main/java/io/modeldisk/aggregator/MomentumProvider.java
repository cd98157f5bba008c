package io.modeldisk.aggregator;

import io.modeldisk.platform.text.PlainText;
import java.lang.foreign.MemorySegment;

/** Creates the aggregator of stochastic gradient descent with momentum: PyTorch's SGD with {@code momentum}. */
public final class MomentumProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "momentum";
    }

    @Override
    public String description() {
        return "velocity = momentum * velocity + gradient; weights -= lr * velocity; " + optionsText();
    }

    static String optionsText() {
        return "options: " + PlainText.format(Optimizer.DESCRIPTION, "momentum, from 0 to below 1 (default 0.9), ", 0);
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Momentum(options, false);
    }

    /** The state of a weight is its velocity. */
    static final class Momentum extends Optimizer {
        private final float momentum;
        private final boolean nesterov;

        Momentum(AggregatorOptions options, boolean nesterov) {
            super(options, 0);
            this.momentum = (float) fraction(options, "momentum", 0.9);
            this.nesterov = nesterov;
        }

        @Override
        public Formula formula() {
            return new Formula.Momentum(rules(), momentum, nesterov);
        }

        @Override
        public int stateBytesPerLogicalBlock() {
            return LOGICAL_BLOCK_BYTES;
        }

        @Override
        void update(
            MemorySegment weights, MemorySegment state, long offset, MemorySegment gradient, long gradientOffset,
            long lengthBytes, float factor, float rate) {
            OptimizerKernels.momentum(weights, state, offset, gradient, gradientOffset, lengthBytes, factor, rules(),
                rate, momentum, nesterov);
        }
    }
}
