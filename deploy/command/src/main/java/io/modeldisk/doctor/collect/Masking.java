package io.modeldisk.doctor.collect;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces secrets in text by {@value #MASK}: secrets that are known, values of names that sound like a secret, lines of a
 * secrets file, user info in URLs, private keys. It rather masks too much. Immutable.
 */
final class Masking {
    /** The text that replaces a secret. */
    static final String MASK = "***";

    /** A known secret that is shorter is not searched for, because it would also be found where it is no secret. */
    private static final int MIN_KNOWN = 8;

    // A name is tried only from its begin, and all repetitions are bounded, so that the time grows with the length of the text,
    // and not with its square.
    private static final String SENSITIVE = "(?<![\\w.-])[\\w.-]{0,128}?(?:token|passw|passphrase|secret|credential|authorization"
        + "|cookie|api[-_.]?key|private[-_.]?key|chap_r)[\\w.-]{0,128}+";
    /** Names of options, properties and directives whose value is the path of a file with secrets, and not a secret. */
    private static final Pattern NAMES_A_FILE = Pattern.compile(
        "(?i).*(secrets|[-_.]?file|[-_.]?path|[-_.]?dir(ectory)?)|(load|import)credential\\w*");
    private static final Pattern KEY = Pattern.compile("(?i)" + SENSITIVE);
    /** The text in quotes, or the rest of the line. */
    private static final String VALUE = "(\"[^\"\\\\\\n]*\"|'[^'\\\\\\n]*'|[^\\n]*)";
    private static final Pattern ASSIGNMENT = Pattern
        .compile("(?i)(" + SENSITIVE + ")([\"']?\\s{0,9}[=:]\\s{0,9})" + VALUE);
    private static final Pattern OPTION = Pattern.compile("(?i)(" + SENSITIVE + ")( +)(\"[^\"\\n]*\"|'[^'\\n]*'|\\S+)");
    private static final Pattern BEARER = Pattern.compile("(?i)\\b(bearer|basic)(\\s{1,9})\\S{8,}");
    private static final Pattern USER_INFO = Pattern.compile("(?i)\\b([a-z][a-z0-9+.-]{0,30}://)[^\\s\"'<>]{0,512}@");
    /** The word "status" has other meanings within a line, such as in {@code status=1/FAILURE} of a journal. */
    private static final Pattern SECRETS_LINE = Pattern.compile(
        "(\\b(?:self|peer|zookeeper|replica)|(?<![^\\n])[ \\t]{0,9}status(?=[ \\t]))"
            + "([\\s=:]{1,9})(\\S{1,256})(\\s{1,9})(\\S{12,256})");
    private static final Pattern PRIVATE_KEY = Pattern.compile(
        "(?s)(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----).*?(-----END [A-Z ]{0,40}PRIVATE KEY-----|\\z)");
    private static final Pattern END_OF_PRIVATE_KEY = Pattern.compile("(?s)\\A.*-----END [A-Z ]{0,40}PRIVATE KEY-----");
    private static final Pattern CONTINUED_LINE = Pattern.compile("\\\\\\R\\s*");

    private final List<String> known;

    /** Creates a masking that also replaces these secrets, wherever they are. */
    Masking(Collection<String> known) {
        this.known = known.stream().filter(secret -> secret.length() >= MIN_KNOWN).distinct()
            .sorted(Comparator.comparingInt(String::length).reversed()).toList();
    }

    /** Returns the text without secrets. */
    String mask(String text) {
        String masked = CONTINUED_LINE.matcher(text).replaceAll(" ");
        for (String secret : known) {
            masked = masked.replace(secret, MASK);
        }
        masked = PRIVATE_KEY.matcher(masked).replaceAll("$1" + MASK + "$2");
        if (!masked.contains("-----BEGIN")) {
            masked = END_OF_PRIVATE_KEY.matcher(masked).replaceAll(MASK);
        }
        masked = BEARER.matcher(masked).replaceAll("$1$2" + MASK);
        masked = OPTION.matcher(masked).replaceAll(found -> found.group(1).startsWith("--")
            ? value(found.group(1), found.group(2), found.group(3))
            : Matcher.quoteReplacement(found.group()));
        masked = ASSIGNMENT.matcher(masked).replaceAll(found -> value(found.group(1), found.group(2), found.group(3)));
        masked = USER_INFO.matcher(masked).replaceAll("$1" + MASK + "@");
        return SECRETS_LINE.matcher(masked).replaceAll("$1$2$3$4" + MASK);
    }

    /** Returns whether a name sounds like that of a secret, or of a file with secrets. */
    static boolean isSensitive(String name) {
        return KEY.matcher(name.substring(name.lastIndexOf('/') + 1)).matches();
    }

    /** Returns the value of a setting or of an environment variable without secrets. */
    String maskValue(String name, String value) {
        return KEY.matcher(name).matches() && !NAMES_A_FILE.matcher(name).matches() ? MASK : mask(value);
    }

    private static String value(String name, String separator, String value) {
        boolean kept = value.isBlank() || NAMES_A_FILE.matcher(name).matches();
        char quote = value.isEmpty() ? ' ' : value.charAt(0);
        String masked = quote == '"' || quote == '\'' ? quote + MASK + quote : MASK;
        return Matcher.quoteReplacement(name + separator + (kept ? value : masked));
    }
}
