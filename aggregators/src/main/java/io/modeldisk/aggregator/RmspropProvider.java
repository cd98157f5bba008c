package io.modeldisk.aggregator;

import io.modeldisk.platform.text.PlainText;

/** Creates the aggregator rmsprop (Hinton 2012) with the formulas of PyTorch's RMSprop. */
public final class RmspropProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "rmsprop";
    }

    @Override
    public String description() {
        return "squares = alpha * squares + (1 - alpha) * gradient^2; weights -= lr * gradient / (sqrt(squares) + eps);"
            + " options: "
            + PlainText.format(Optimizer.DESCRIPTION, "alpha, from 0 to below 1 (default 0.99), eps (default 1e-8), ",
                0);
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        double alpha = Optimizer.fraction(options, "alpha", 0.99);
        return new ScaledBySquares(options, (float) alpha, (float) (1 - alpha), 1e-8f);
    }
}
