package io.modeldisk.platform.text;

import java.util.Locale;

/** Formats text in the same way on every machine. */
public final class PlainText {
    private PlainText() {}

    /**
     * Formats as {@link String#format(Locale, String, Object...)} with {@link Locale#ROOT}. {@link String#formatted} uses the
     * locale of the machine, and some locales use non-ASCII digits or a decimal comma. File names, protocol texts and file
     * contents must not depend on the locale.
     */
    public static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
