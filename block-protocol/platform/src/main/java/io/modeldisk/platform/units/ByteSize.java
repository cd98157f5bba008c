package io.modeldisk.platform.units;

import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.text.PlainText;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A size as people write it, such as {@code 4096}, {@code 256KiB}, {@code 64k} or {@code 1.5 GB}. Units of one letter and units
 * with an 'i' are powers of 1024. Units that end in 'B' without an 'i' are powers of 1000.
 *
 * @param bytes the size in bytes
 */
public record ByteSize(long bytes) {
    private static final Pattern FORM = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*(?:([kmgt])(i?)(b?)|b)?");
    private static final String UNITS = "kmgt";

    /**
     * Parses a size.
     *
     * @throws IllegalArgumentException if the text is not a size, or the size is too large or not a whole number of bytes
     */
    public static ByteSize parse(String text) {
        Matcher form = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        Arguments.require(form.matches(), "'" + text + "' is not a size; write it like 4096, 64k, 256KiB, 1.5GB");
        double unit = 1;
        if (form.group(2) != null) {
            boolean decimal = form.group(3).isEmpty() && !form.group(4).isEmpty();
            unit = Math.pow(decimal ? 1000 : 1024, UNITS.indexOf(form.group(2)) + 1);
        }
        double bytes = Double.parseDouble(form.group(1)) * unit;
        Arguments.require(bytes <= Long.MAX_VALUE / 2 && bytes == Math.rint(bytes),
            "the size '" + text + "' must be a whole number of bytes below 4 EiB");
        return new ByteSize((long) bytes);
    }

    /**
     * Formats a size in the largest binary unit that is not above the size. A number that is not whole has two decimals, such as
     * {@code 1.50 KiB}.
     */
    public static String format(double bytes) {
        int unit = bytes < 1024 ? 0 : (int) Math.min(UNITS.length(), Math.floor(Math.log(bytes) / Math.log(1024)));
        double value = bytes / Math.pow(1024, unit);
        return unit > 0 && value != Math.rint(value)
            ? PlainText.format("%.2f %s", value, unitName(unit))
            : PlainText.format("%.0f %s", value, unitName(unit));
    }

    /** Formats a size in the largest binary unit that gives a whole number, such as {@code 256 KiB} or {@code 3000 B}. */
    public static String exact(long bytes) {
        int unit = 0;
        long value = bytes;
        while (unit < UNITS.length() && value != 0 && value % 1024 == 0) {
            value /= 1024;
            unit++;
        }
        return value + " " + unitName(unit);
    }

    private static String unitName(int unit) {
        return unit == 0 ? "B" : Character.toUpperCase(UNITS.charAt(unit - 1)) + "iB";
    }

    @Override
    public String toString() {
        return exact(bytes);
    }
}
