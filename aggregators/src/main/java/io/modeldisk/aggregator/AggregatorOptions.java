package io.modeldisk.aggregator;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The options of a specification such as {@code sgd:lr=0.1}. The part after the colon has the form {@code key=value,key=value}.
 * An {@link AggregatorProvider} reads the options that it supports. Any other option is an error. Not thread-safe.
 */
public final class AggregatorOptions {
    private final Map<String, String> untaken = new LinkedHashMap<>();
    private final Set<String> known = new TreeSet<>();

    private AggregatorOptions() {}

    /**
     * Parses options.
     *
     * @param text {@code key=value,key=value}, or an empty string for no options
     * @throws IllegalArgumentException if a part is not {@code key=value}, or if a key is given twice
     */
    public static AggregatorOptions parse(String text) {
        AggregatorOptions options = new AggregatorOptions();
        if (text.isBlank()) {
            return options;
        }
        for (String option : text.split(",", -1)) {
            int equals = option.indexOf('=');
            String key = equals < 0 ? "" : option.substring(0, equals).strip();
            String value = option.substring(equals + 1).strip();
            if (key.isEmpty() || value.isEmpty()) {
                throw new IllegalArgumentException("the option \"" + option + "\" must have the form key=value");
            }
            String former = options.untaken.put(key, value);
            if (former != null) {
                throw new IllegalArgumentException(
                    "the option " + key + " is given twice, as " + former + " and as " + value + "; give it once");
            }
        }
        return options;
    }

    /**
     * Returns the value of a required option.
     *
     * @throws IllegalArgumentException if the option is missing or not a finite number
     */
    public float floatOption(String key) {
        String value = take(key);
        if (value == null) {
            throw new IllegalArgumentException("the option " + key + " is missing; add " + key + "=NUMBER");
        }
        return parseFloat(key, value);
    }

    /**
     * Returns the value of an option as a float32 number, or the default if the option is missing.
     *
     * @throws IllegalArgumentException if the value is not a finite number
     */
    public float floatOption(String key, float defaultValue) {
        String value = take(key);
        return value == null ? defaultValue : parseFloat(key, value);
    }

    /**
     * Returns the value of an option with float64 precision, or the default if the option is missing.
     *
     * @throws IllegalArgumentException if the value is not a finite number
     */
    public double doubleOption(String key, double defaultValue) {
        String value = take(key);
        if (value == null) {
            return defaultValue;
        }
        parseFloat(key, value);
        return Double.parseDouble(value);
    }

    /**
     * Returns the value of an option as an integer, or the default if the option is missing.
     *
     * @throws IllegalArgumentException if the value is not a 32-bit integer
     */
    public int intOption(String key, int defaultValue) {
        String value = take(key);
        if (value == null) {
            return defaultValue;
        }
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + "=" + value + " must be a 32-bit integer", e);
        }
    }

    /**
     * Returns the value of an option as text, or the default if the option is missing.
     *
     * @param allowed the allowed values
     * @throws IllegalArgumentException if the value is not one of them
     */
    public String textOption(String key, String defaultValue, List<String> allowed) {
        String value = take(key);
        if (value == null) {
            return defaultValue;
        }
        if (!allowed.contains(value)) {
            throw new IllegalArgumentException(key + "=" + value + " must be one of " + String.join(", ", allowed));
        }
        return value;
    }

    /** Returns true if an option is given. This does not count as reading the option. */
    public boolean has(String key) {
        return untaken.containsKey(key);
    }

    /**
     * Checks that every option was read.
     *
     * @throws IllegalArgumentException if an option was not read; the message names each such option
     */
    public void requireNoneLeft() {
        if (!untaken.isEmpty()) {
            StringBuilder left = new StringBuilder();
            untaken
                .forEach((key, value) -> left.append(left.isEmpty() ? "" : ",").append(key).append('=').append(value));
            throw new IllegalArgumentException(
                left + (untaken.size() == 1 ? " is not a known option" : " are not known options") + "; known options: "
                    + (known.isEmpty() ? "none" : String.join(", ", known)));
        }
    }

    private String take(String key) {
        known.add(key);
        return untaken.remove(key);
    }

    private static float parseFloat(String key, String value) {
        float parsed;
        try {
            parsed = Float.parseFloat(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + "=" + value + " must be a number", e);
        }
        if (!Float.isFinite(parsed)) {
            throw new IllegalArgumentException(key + "=" + value + " must be a finite float32 number");
        }
        return parsed;
    }
}
