package io.modeldisk.command;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A size as people write it: {@code 4096}, {@code 256KiB}, {@code 64k}, {@code 1.5 GB}. Units of one letter and those with an
 * 'i' are powers of 1024, those that end in 'B' alone powers of 1000.
 *
 * @param bytes the size
 */
public record ByteCount(long bytes) {
    private static final Pattern FORM = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*(?:([kmgt])(i?)(b?)|b)?");
    private static final String UNITS = "kmgt";

    /**
     * The size that a text states.
     *
     * @throws IllegalArgumentException if the text is not a size
     */
    public static ByteCount parse(String text) {
        Matcher form = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!form.matches()) {
            throw new IllegalArgumentException(
                "'" + text + "' is no size; it would look like 4096, 64k, 256KiB, 1.5GB");
        }
        double unit = 1;
        if (form.group(2) != null) {
            boolean decimal = form.group(3).isEmpty() && !form.group(4).isEmpty();
            unit = Math.pow(decimal ? 1000 : 1024, UNITS.indexOf(form.group(2)) + 1);
        }
        double bytes = Double.parseDouble(form.group(1)) * unit;
        if (bytes > Long.MAX_VALUE / 2 || bytes != Math.rint(bytes)) {
            throw new IllegalArgumentException("'" + text + "' is no whole number of bytes, or too many");
        }
        return new ByteCount((long) bytes);
    }

    /** The shortest form with at most two decimals: {@code 150.04 KiB}. */
    public static String format(double bytes) {
        if (bytes < 1024) {
            return "%.0f B".formatted(bytes);
        }
        int unit = (int) Math.min(UNITS.length(), Math.floor(Math.log(bytes) / Math.log(1024)));
        double value = bytes / Math.pow(1024, unit);
        String digits = value == Math.rint(value) ? "%.0f" : "%.2f";
        return (digits + " %siB").formatted(value, Character.toUpperCase(UNITS.charAt(unit - 1)));
    }
}
