package io.modeldisk.protocol.login;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The text keys and values of a login or of a text exchange (RFC 7143 section 6.1), in the order of arrival. Not thread-safe.
 *
 * <p>If several PDUs carry the text, the caller must first join their data, up to {@value #MAX_TEXT_BYTES} bytes.
 */
public final class TextParameters {
    /** The maximum length of the text of one exchange, in bytes. */
    public static final int MAX_TEXT_BYTES = 64 * 1024;

    private static final int MAX_PAIRS = 256;
    private static final int MAX_KEY_BYTES = 63;
    private static final int MAX_VALUE_BYTES = 8192;
    private static final Pattern KEY_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9.+@_-]*");

    private final Map<String, String> values = new LinkedHashMap<>();

    /**
     * Parses {@code key=value} pairs. A zero byte follows each pair.
     *
     * @throws LoginException if a pair has no '=', if a key or value is too long, if a key is malformed or repeated, or if there
     *     are more than {@value #MAX_PAIRS} pairs
     */
    public static TextParameters parse(ByteBuffer text) throws LoginException {
        TextParameters parameters = new TextParameters();
        // In this charset, each byte is one character, so lengths are in bytes.
        for (String pair : StandardCharsets.ISO_8859_1.decode(text).toString().split("\0")) {
            if (!pair.isEmpty()) {
                parameters.addPair(pair);
            }
        }
        return parameters;
    }

    private void addPair(String pair) throws LoginException {
        int keyBytes = pair.indexOf('=');
        LoginException.require(keyBytes > 0, "the peer sent text that does not have the form KEY=VALUE");
        int valueBytes = pair.length() - keyBytes - 1;
        LoginException.require(keyBytes <= MAX_KEY_BYTES,
            "the peer sent a key of " + keyBytes + " bytes, but the limit is " + MAX_KEY_BYTES + " bytes");
        LoginException.require(valueBytes <= MAX_VALUE_BYTES,
            "the peer sent a value of " + valueBytes + " bytes, but the limit is " + MAX_VALUE_BYTES + " bytes");
        String key = pair.substring(0, keyBytes);
        String value = new String(pair.substring(keyBytes + 1).getBytes(StandardCharsets.ISO_8859_1),
            StandardCharsets.UTF_8);
        LoginException.require(KEY_NAME.matcher(key).matches(),
            "the peer sent a key that is not a letter followed by letters, digits and the characters . - + @ _");
        LoginException.require(values.size() != MAX_PAIRS, "the peer sent more than " + MAX_PAIRS + " keys");
        LoginException.require(values.putIfAbsent(key, value) == null, "the peer sent the key " + key + " twice");
    }

    /** Sets the value of a key. */
    public TextParameters put(String key, Object value) {
        values.put(key, value.toString());
        return this;
    }

    /** Returns the value of a key, or null. */
    public String value(String key) {
        return values.get(key);
    }

    /** Returns the value of a key, or a default. */
    public String value(String key, String otherwise) {
        return values.getOrDefault(key, otherwise);
    }

    /** Returns all pairs in their order. */
    public Map<String, String> asMap() {
        return values;
    }

    /** Returns whether there are no pairs. */
    public boolean isEmpty() {
        return values.isEmpty();
    }

    /** Returns the pairs as the bytes of a data segment. */
    public byte[] encode() {
        StringBuilder text = new StringBuilder();
        values.forEach((key, value) -> text.append(key).append('=').append(value).append('\0'));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return values.toString();
    }
}
