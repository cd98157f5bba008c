package io.modeldisk.aggregator;

import io.modeldisk.platform.text.PlainText;
import java.lang.foreign.MemorySegment;

/** Creates the aggregator of stochastic gradient descent without momentum. */
public final class SgdProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "sgd";
    }

    @Override
    public String description() {
        return "weights -= lr * gradient; options: " + PlainText.format(Optimizer.DESCRIPTION, "", 0);
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Sgd(options);
    }

    private static final class Sgd extends Optimizer {
        Sgd(AggregatorOptions options) {
            super(options, 0);
        }

        @Override
        public Formula formula() {
            return new Formula.Sgd(rules());
        }

        @Override
        void update(
            MemorySegment weights, MemorySegment state, long offset, MemorySegment gradient, long gradientOffset,
            long lengthBytes, float factor, float rate) {
            if (rules().changeNothing()) {
                FloatKernels.scaledAdd(weights, offset, gradient, gradientOffset, lengthBytes, -rate * factor);
            } else {
                OptimizerKernels.sgd(weights, offset, gradient, gradientOffset, lengthBytes, factor, rules(), rate);
            }
        }
    }
}
