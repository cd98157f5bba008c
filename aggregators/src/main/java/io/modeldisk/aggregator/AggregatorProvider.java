package io.modeldisk.aggregator;

/** Makes aggregators of one name. Plug-ins are found by {@link java.util.ServiceLoader}. */
public interface AggregatorProvider {
    /** The name before the colon of {@code sgd:lr=0.1}: lower-case letters, digits and hyphens. */
    String name();

    /** One line for the help text: what it does to the weights, and its options with their defaults. */
    String description();

    /**
     * Makes an aggregator.
     *
     * @param options what stands behind the colon; the provider takes what it knows, and what is left over is an error
     * @throws IllegalArgumentException for a missing option or a value out of range, naming both
     */
    Aggregator create(AggregatorOptions options);
}
