package io.modeldisk.protocol.login;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Locale;
import java.util.regex.Pattern;

/** iSCSI names (RFC 7143 section 4.2.7) of the types iqn, eui and naa, with at most {@value #MAX_BYTES} bytes. */
public final class IscsiName {
    /** The maximum length of a name in bytes. */
    public static final int MAX_BYTES = 223;

    // This pattern allows more characters than RFC 3722, because QEMU derives initiator names from the names of virtual machines.
    private static final Pattern IQN = Pattern.compile("iqn\\.[^\\s\\p{C}]+");
    private static final Pattern EUI = Pattern.compile("eui\\.[0-9a-f]{16}");
    private static final Pattern NAA = Pattern.compile("naa\\.[0-9a-f]{16}(?:[0-9a-f]{16})?");

    private IscsiName() {}

    /**
     * Returns whether a name is already in the form in which names are compared. A target accepts only such initiator names, so
     * two names that look the same cannot belong to two learners. A name with a dot at the end is not in this form either,
     * because host names are equal with and without that dot.
     */
    public static boolean isPrepared(String name) {
        // The conversion to upper case and back changes letters that the conversion to lower case keeps, such as a sharp s.
        String folded = name.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT);
        return name.equals(normalized(name)) && name.equals(folded) && !name.endsWith(".");
    }

    /** Returns the form in which names are compared: NFKC, in lower case (RFC 3722). Returns null for a malformed name. */
    public static String normalized(String name) {
        String one = Normalizer.normalize(name, Normalizer.Form.NFKC).toLowerCase(Locale.ROOT);
        boolean sound = one.getBytes(StandardCharsets.UTF_8).length <= MAX_BYTES
            && (IQN.matcher(one).matches() || EUI.matcher(one).matches() || NAA.matcher(one).matches());
        return sound ? one : null;
    }
}
