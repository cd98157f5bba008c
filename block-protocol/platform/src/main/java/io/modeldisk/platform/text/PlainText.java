package io.modeldisk.platform.text;

import java.util.Locale;

/** Formats text in the same way on every machine. */
public final class PlainText {
    private PlainText() {}

    /**
     * Formats as {@link String#format(Locale, String, Object...)} with {@link Locale#ROOT}. {@link String#formatted} uses the
     * locale of the machine, and many locales have other digits than ASCII or a comma before decimals. File names, protocol texts
     * and files must not depend on that.
     */
    public static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
