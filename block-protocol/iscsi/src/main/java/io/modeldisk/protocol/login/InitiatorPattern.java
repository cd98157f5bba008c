package io.modeldisk.protocol.login;

import io.modeldisk.platform.Arguments;
import java.text.Normalizer;
import java.util.Locale;

/**
 * A pattern of initiator names: {@code *} matches any number of characters, and {@code ?} matches one character.
 *
 * @param text the pattern, in the form in which names are compared: NFKC, in lower case
 */
public record InitiatorPattern(String text) {
    /**
     * Parses a pattern.
     *
     * @throws IllegalArgumentException if the pattern cannot match any initiator name
     */
    public InitiatorPattern {
        text = Normalizer.normalize(text, Normalizer.Form.NFKC).toLowerCase(Locale.ROOT);
        Arguments.require(text.matches("[iena*?][^\\s\\p{C}]*"),
            "'" + text + "' is not a pattern of initiator names; write it like iqn.2026-11.io.modeldisk.learner:*");
    }

    /**
     * Returns whether a {@linkplain IscsiName#normalized normalized} name matches. The time is at most proportional to the length
     * of the pattern times the length of the name.
     */
    public boolean matches(String name) {
        int at = 0;
        int in = 0;
        int star = -1;
        int retry = 0;
        while (at < name.length()) {
            char wanted = in < text.length() ? text.charAt(in) : 0;
            if (wanted == '*') {
                star = in++;
                retry = at;
            } else if (wanted == '?' || wanted == name.charAt(at)) {
                in++;
                at++;
            } else if (star >= 0) {
                in = star + 1;
                at = ++retry;
            } else {
                return false;
            }
        }
        while (in < text.length() && text.charAt(in) == '*') {
            in++;
        }
        return in == text.length();
    }

    @Override
    public String toString() {
        return text;
    }
}
