package io.modeldisk.aggregator;

/** Makes aggregators of one name. Plug-ins are found by {@link java.util.ServiceLoader}. */
public interface AggregatorProvider {
    /** The name before the colon of {@code sgd:lr=0.1}: lower-case letters, digits and hyphens. */
    String name();

    /** One line for the help text: its effect on the weights, and its options with their defaults. */
    String description();

    /**
     * Makes an aggregator.
     *
     * @param options the options of the specification; the provider takes those it knows, and one that is left is an error
     * @throws IllegalArgumentException for a missing option or a value out of range, naming both
     */
    Aggregator create(AggregatorOptions options);
}
