package io.modeldisk.platform.units;

import io.modeldisk.platform.Arguments;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as people write them, such as {@code 5s}, {@code 200ms}, {@code 2min} or {@code 1.5h}. A number without a unit is in
 * seconds.
 */
public final class DurationText {
    private static final Pattern FORM = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*(ns|us|ms|s|min|h)?");
    private static final Map<String, Long> UNIT_NS = Map.of("ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s",
        1_000_000_000L,
        "min", 60_000_000_000L, "h", 3_600_000_000_000L);
    /** The units from the largest to the smallest. */
    private static final String[] UNITS = {"h", "min", "s", "ms", "us", "ns"};

    private DurationText() {}

    /**
     * Parses a duration. A number without a unit is in seconds.
     *
     * @throws IllegalArgumentException if the text is not a duration, or the duration is longer than 292 years
     */
    public static Duration parse(String text) {
        return parse(text, "s");
    }

    /**
     * Parses a duration.
     *
     * @param defaultUnit the unit of a number that has no unit: ns, us, ms, s, min or h
     * @throws IllegalArgumentException if the text is not a duration, or the duration is longer than 292 years
     */
    public static Duration parse(String text, String defaultUnit) {
        Matcher form = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        Arguments.require(form.matches(),
            "'" + text + "' is not a duration; write it like 5s, 200ms, 2min, or 5 for 5" + defaultUnit);
        long unitNs = UNIT_NS.get(form.group(2) == null ? defaultUnit : form.group(2));
        BigDecimal ns = new BigDecimal(form.group(1)).multiply(BigDecimal.valueOf(unitNs));
        Arguments.require(ns.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) <= 0,
            "the duration '" + text + "' must be less than 292 years");
        return Duration.ofNanos(ns.longValue());
    }

    /** Formats a duration in the largest unit that gives a whole number, such as {@code 1500ms} or {@code 10min}. */
    public static String format(Duration duration) {
        long ns = duration.toNanos();
        if (ns == 0) {
            return "0s";
        }
        for (String unit : UNITS) {
            if (ns % UNIT_NS.get(unit) == 0) {
                return ns / UNIT_NS.get(unit) + unit;
            }
        }
        throw new AssertionError("the duration is not a whole number of nanoseconds");
    }
}
