package io.modeldisk.admin.top;

/**
 * A line on the terminal. The text has only printable characters.
 *
 * @param style how the whole line looks
 * @param text the text without escape sequences
 */
record Line(Style style, String text) {
    /** How a line looks. A line of each style can be read without colours. */
    enum Style {
        PLAIN(""), BOLD("1"), QUIET("2"), WARNING("33"), ERROR("1;31");

        private final String code;

        Style(String code) {
            this.code = code;
        }
    }

    /** Returns the line, at most this many characters long. */
    String plain(int columns) {
        return text.length() <= columns ? text : text.substring(0, Math.max(0, columns - 1)) + "~";
    }

    /** Returns the line with the escape sequences of its style. */
    String styled(int columns) {
        return style.code.isEmpty() ? plain(columns) : "\033[" + style.code + "m" + plain(columns) + "\033[0m";
    }
}
