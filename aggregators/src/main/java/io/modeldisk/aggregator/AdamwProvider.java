package io.modeldisk.aggregator;

/** Creates the aggregator adamw (Loshchilov and Hutter 2019) with the formulas of PyTorch's AdamW. */
public final class AdamwProvider implements AggregatorProvider {
    private static final float DECAY = 0.01f;

    @Override
    public String name() {
        return "adamw";
    }

    @Override
    public String description() {
        return "adam, but weights -= lr * weight-decay * weights replaces the decay in the gradient; options: "
            + Adam.optionsText(DECAY);
    }

    @Override
    public Aggregator create(AggregatorOptions options) {
        return new Adam(options, true, DECAY);
    }
}
