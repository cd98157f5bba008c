package io.modeldisk.aggregator;

/**
 * Creates aggregators of one kind, such as {@code sgd}. {@link java.util.ServiceLoader} finds the providers in other jars. The
 * providers in modeldisk are listed in {@code BuiltIn}.
 */
public interface AggregatorProvider {
    /** Returns the name of the aggregator, such as {@code sgd} in {@code sgd:lr=0.1}: lower-case letters, digits and hyphens. */
    String name();

    /** Returns one line for the help text: the effect of the aggregator on the weights, and its options with their defaults. */
    String description();

    /**
     * Creates an aggregator.
     *
     * @param options the options of the specification; an option that this method does not read is an error
     * @throws IllegalArgumentException if an option is missing or out of range; the message names the option and its value
     */
    Aggregator create(AggregatorOptions options);
}
