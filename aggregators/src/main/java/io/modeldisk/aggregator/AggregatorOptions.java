package io.modeldisk.aggregator;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The options of a specification such as {@code sgd:lr=0.1}. The part after the colon has the form {@code key=value,key=value}.
 * An {@link AggregatorProvider} reads the options that it supports. Any other option is an error. Not thread-safe.
 */
public final class AggregatorOptions {
    private final Map<String, String> untaken = new LinkedHashMap<>();
    /** The options that the provider has asked for, each with its default, such as {@code eps=1e-8}. */
    private final Map<String, String> known = new LinkedHashMap<>();
    private final Set<String> missing = new LinkedHashSet<>();

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
     * Returns the value of a required option. If the option is missing, returns 1, so the provider can read its other options;
     * {@link #requireAllWell} then throws an exception.
     *
     * @throws IllegalArgumentException if the value is not a finite number
     */
    public float floatOption(String key) {
        String value = take(key, "NUMBER");
        if (value == null) {
            missing.add(key);
            return 1;
        }
        return parseFloat(key, value);
    }

    /**
     * Returns the value of an option as a float32 number, or the default if the option is missing.
     *
     * @throws IllegalArgumentException if the value is not a finite number
     */
    public float floatOption(String key, float defaultValue) {
        String value = take(key, text(Double.parseDouble(Float.toString(defaultValue))));
        return value == null ? defaultValue : parseFloat(key, value);
    }

    /**
     * Returns the value of an option with float64 precision, or the default if the option is missing.
     *
     * @throws IllegalArgumentException if the value is not a finite number
     */
    public double doubleOption(String key, double defaultValue) {
        String value = take(key, text(defaultValue));
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
        String value = take(key, Integer.toString(defaultValue));
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
        String value = take(key, String.join("|", allowed));
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
        known.putIfAbsent(key, key);
        return untaken.containsKey(key);
    }

    /**
     * Checks that every required option was given and every given option was read.
     *
     * @throws IllegalArgumentException otherwise; the message names each missing, each unknown and each known option
     */
    public void requireAllWell() {
        List<String> faults = new ArrayList<>();
        missing.forEach(key -> faults.add(key + " is missing; add " + key + "=NUMBER"));
        untaken.keySet().forEach(key -> faults.add(key + " is unknown"));
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", faults) + "\n  known options: "
                + (known.isEmpty() ? "none" : String.join(", ", known.values())));
        }
    }

    private String take(String key, String defaultText) {
        known.put(key, key + "=" + defaultText);
        return untaken.remove(key);
    }

    /** Returns a number as users write it, such as 0.9, 0 or 1e-8. */
    private static String text(double number) {
        return Double.toString(number).replaceFirst("\\.0(?=E|$)", "").replace('E', 'e');
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
