package io.modeldisk.aggregator;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;

/** Finds aggregators by name: those of modeldisk, and those of other jars on the class path. Thread-safe. */
public final class Aggregators {
    private Aggregators() {}

    /**
     * Creates the aggregator of a specification. The caller must close the aggregator.
     *
     * @param specification {@code name} or {@code name:key=value,key=value}, such as {@code sgd:lr=0.1}
     * @throws IllegalArgumentException if the name is unknown, or if an option is missing, unknown or out of range; the message
     *     describes the known aggregators or options
     * @throws IllegalStateException if two providers have the same name
     */
    public static Aggregator parse(String specification) {
        return parse(specification, all());
    }

    /**
     * Returns the providers, sorted by name.
     *
     * @throws IllegalStateException if two providers have the same name
     */
    public static Collection<AggregatorProvider> providers() {
        return all().values();
    }

    private static Map<String, AggregatorProvider> all() {
        List<AggregatorProvider> providers = new ArrayList<>(BuiltIn.ALL);
        ServiceLoader.load(AggregatorProvider.class).forEach(providers::add);
        return byName(providers);
    }

    static Aggregator parse(String specification, Map<String, AggregatorProvider> providers) {
        int colon = specification.indexOf(':');
        String name = colon < 0 ? specification : specification.substring(0, colon);
        String optionsText = colon < 0 ? "" : specification.substring(colon + 1);
        AggregatorProvider provider = providers.get(name);
        if (provider == null) {
            StringBuilder message = new StringBuilder(
                "the aggregator \"" + name + "\" is not known; the known aggregators are:");
            providers.values().forEach(known -> message.append("\n  ").append(describe(known)));
            throw new IllegalArgumentException(message.toString());
        }
        try {
            return create(provider, AggregatorOptions.parse(optionsText));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the aggregator " + specification + " is invalid: " + e.getMessage(), e);
        }
    }

    static Map<String, AggregatorProvider> byName(Iterable<AggregatorProvider> providers) {
        Map<String, AggregatorProvider> byName = new TreeMap<>();
        for (AggregatorProvider provider : providers) {
            AggregatorProvider former = byName.put(provider.name(), provider);
            if (former != null) {
                throw new IllegalStateException(
                    "two aggregators are named \"" + provider.name() + "\": " + former.getClass().getName() + " and "
                        + provider.getClass().getName() + "; remove one from the class path");
            }
        }
        return byName;
    }

    private static Aggregator create(AggregatorProvider provider, AggregatorOptions options) {
        Aggregator aggregator = provider.create(options);
        try {
            options.requireAllWell();
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
