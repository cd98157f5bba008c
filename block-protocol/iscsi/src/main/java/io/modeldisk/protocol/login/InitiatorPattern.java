package io.modeldisk.protocol.login;

import java.util.Locale;

/**
 * Which initiators are meant: an iSCSI name in which {@code *} stands for any characters, also none, and {@code ?} for one.
 *
 * @param text the pattern, in lower case
 */
public record InitiatorPattern(String text) {
    /**
     * Takes a pattern.
     *
     * @throws IllegalArgumentException if no name could ever match it
     */
    public InitiatorPattern {
        text = text.toLowerCase(Locale.ROOT);
        if (!text.matches("[iena*?][^\\s\\p{C}]*")) {
            throw new IllegalArgumentException("'" + text + "' is no pattern of initiator names; it would look like "
                + "iqn.2026-11.io.modeldisk.learner:*");
        }
    }

    /** Whether a name, {@linkplain IscsiName#normalized normalized}, is meant. In time linear in pattern times name. */
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
