package io.modeldisk.aggregator;

import io.modeldisk.platform.text.PlainText;

/** Creates the aggregator adagrad (Duchi et al. 2011) with the formulas of PyTorch's Adagrad. */
public final class AdagradProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "adagrad";
    }

    @Override
    public String description() {
        return "squares += gradient^2; weights -= lr * gradient / (sqrt(squares) + eps); options: "
            + PlainText.format(Optimizer.DESCRIPTION, "eps (default 1e-10), ", 0);
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new ScaledBySquares(options, 1, 1, 1e-10f);
    }
}
