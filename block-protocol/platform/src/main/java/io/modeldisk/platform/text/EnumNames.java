package io.modeldisk.platform.text;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The names of enum constants as users write them, such as {@code after-push}. An enum with such names returns them from {@code
 * toString()}.
 */
public final class EnumNames {
    private EnumNames() {}

    /** Returns the name of a constant in lower case, with hyphens between words. */
    public static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * Returns the constant with this text.
     *
     * @param option the name of the option, for the message
     * @throws IllegalArgumentException if no constant has this text; the message lists the valid texts
     */
    public static <E extends Enum<E>> E parse(Class<E> type, String option, String text) {
        E[] all = type.getEnumConstants();
        return Arrays.stream(all).filter(each -> each.toString().equals(text)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException(option + "=" + text + " must be one of "
                + Arrays.stream(all).map(E::toString).collect(Collectors.joining(", "))));
    }
}
