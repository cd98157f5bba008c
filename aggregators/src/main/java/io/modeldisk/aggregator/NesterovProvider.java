package io.modeldisk.aggregator;

/** Creates the aggregator of Nesterov's momentum: PyTorch's SGD with {@code momentum} and {@code nesterov=True}. */
public final class NesterovProvider implements AggregatorProvider {
    @Override
    public String name() {
        return "nesterov";
    }

    @Override
    public String description() {
        return "velocity = momentum * velocity + gradient; weights -= lr * (gradient + momentum * velocity); "
            + MomentumProvider.optionsText();
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new MomentumProvider.Momentum(options, true);
    }
}
