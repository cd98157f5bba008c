package io.modeldisk.aggregator;

/** Creates the aggregator adam (Kingma and Ba 2015) with the formulas of PyTorch's Adam. */
public final class AdamProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "adam";
    }

    @Override
    public String description() {
        return "weights -= lr * m / (sqrt(v) + eps), where m and v are moving averages of gradient and gradient^2, without their"
            + " initial bias; options: " + Adam.optionsText(0);
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Adam(options, false, 0);
    }
}
