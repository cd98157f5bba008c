package io.modeldisk.platform.text;

/** Makes text from a peer safe for output in a log or on a terminal. */
public final class PeerText {
    /** The maximum number of characters of a text that {@link #printable} keeps. */
    public static final int MAX_CHARS = 300;

    private PeerText() {}

    /**
     * Escapes every character that is not printable, for example a line feed as {@code &#92;u000A}. Characters that are not
     * printable are control and format characters, line and paragraph separators, lone surrogates, and private-use and unassigned
     * characters. Doubles each backslash. If the text has more than {@link #MAX_CHARS} characters, removes the excess characters
     * and appends the original number of characters.
     */
    public static String printable(String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder safe = new StringBuilder(Math.min(text.length(), MAX_CHARS) + 16);
        int end = Math.min(text.length(), MAX_CHARS);
        for (int i = 0; i < end; i++) {
            char c = text.charAt(i);
            boolean pair = i + 1 < end && Character.isSurrogatePair(c, text.charAt(i + 1));
            if (pair && isPrintable(text.codePointAt(i))) {
                safe.append(c).append(text.charAt(++i));
            } else if (c == '\\') {
                safe.append("\\\\");
            } else if (!pair && isPrintable(c)) {
                safe.append(c);
            } else {
                safe.append(PlainText.format("\\u%04X", (int) c));
            }
        }
        if (end < text.length()) {
            safe.append("... (").append(text.length()).append(" characters)");
        }
        return safe.toString();
    }

    private static boolean isPrintable(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED,
                Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
