package io.modeldisk.server.consistency;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What happens to a push whose gradient has a NaN or an infinity. One such value would spread to all learners' weights. */
public enum NonFinite {
    /** The push ends with an error that names the cause; nothing of it is applied, and it does not count as a round. */
    REFUSE,
    /** The push ends well and counts as a round, with a gradient of zeros. */
    SKIP,
    /** The push is applied like any other; gradients are not checked. */
    PASS;

    /**
     * The policy that a text names.
     *
     * @throws IllegalArgumentException for another text, with the policies
     */
    public static NonFinite parse(String text) {
        return Arrays.stream(values()).filter(each -> each.toString().equals(text)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("nonFinite=" + text + " must be one of "
                + Arrays.stream(values()).map(NonFinite::toString).collect(Collectors.joining(", "))));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
