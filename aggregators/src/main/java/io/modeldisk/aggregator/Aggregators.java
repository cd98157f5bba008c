package io.modeldisk.aggregator;

import java.util.Collection;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;

/** Makes aggregators by name. Providers on the class path are found by {@link ServiceLoader}. Thread safe. */
public final class Aggregators {
    private Aggregators() {}

    /**
     * Makes the aggregator that a specification asks for; the caller closes it.
     *
     * @param specification {@code name} or {@code name:key=value,key=value}, such as {@code sgd:lr=0.1}
     * @throws IllegalArgumentException if the name is not known, naming those that are, or an option is missing, unknown or
     *     out of range, describing the options
     * @throws IllegalStateException if two providers have one name
     */
    public static Aggregator parse(String specification) {
        return parse(specification, byName(ServiceLoader.load(AggregatorProvider.class)));
    }

    /**
     * The providers, ordered by name.
     *
     * @throws IllegalStateException if two providers have one name
     */
    public static Collection<AggregatorProvider> providers() {
        return byName(ServiceLoader.load(AggregatorProvider.class)).values();
    }

    static Aggregator parse(String specification, Map<String, AggregatorProvider> providers) {
        int colon = specification.indexOf(':');
        String name = colon < 0 ? specification : specification.substring(0, colon);
        String optionsText = colon < 0 ? "" : specification.substring(colon + 1);
        AggregatorProvider provider = providers.get(name);
        if (provider == null) {
            StringBuilder message = new StringBuilder("aggregator \"" + name + "\" is not known; known are:");
            providers.values().forEach(known -> message.append("\n  ").append(describe(known)));
            throw new IllegalArgumentException(message.toString());
        }
        try {
            return create(provider, AggregatorOptions.parse(optionsText));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                "aggregator " + specification + ": " + e.getMessage() + "\n  " + describe(provider), e);
        }
    }

    static Map<String, AggregatorProvider> byName(Iterable<AggregatorProvider> providers) {
        Map<String, AggregatorProvider> byName = new TreeMap<>();
        for (AggregatorProvider provider : providers) {
            AggregatorProvider former = byName.put(provider.name(), provider);
            if (former != null) {
                throw new IllegalStateException(
                    "two aggregators are named \"" + provider.name() + "\": " + former.getClass().getName() + " and "
                        + provider.getClass().getName() + "; take one off the class path");
            }
        }
        return byName;
    }

    private static Aggregator create(AggregatorProvider provider, AggregatorOptions options) {
        Aggregator aggregator = provider.create(options);
        try {
            options.requireNoneLeft();
        } catch (IllegalArgumentException e) {
            aggregator.close();
            throw e;
        }
        return aggregator;
    }

    private static String describe(AggregatorProvider provider) {
        return provider.name() + ": " + provider.description();
    }
}
