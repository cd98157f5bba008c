package io.modeldisk.protocol.login;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Text keys and values of a login or text exchange (RFC 7143 section 6.1), in order of arrival. Not thread-safe.
 *
 * <p>Text in several PDUs is gathered first, up to {@value #MAX_TEXT_BYTES} bytes.
 */
public final class TextParameters {
    /** The most text that one exchange may gather. */
    public static final int MAX_TEXT_BYTES = 64 * 1024;

    private static final int MAX_PAIRS = 256;
    private static final int MAX_KEY_BYTES = 63;
    private static final int MAX_VALUE_BYTES = 8192;
    private static final Pattern KEY_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9.+@_-]*");

    private final Map<String, String> values = new LinkedHashMap<>();

    /**
     * Reads {@code key=value} pairs, each ended by a zero byte.
     *
     * @throws LoginException for text without '=', for a key or value that is too long, for a repeated or malformed key, and for
     *     more than {@value #MAX_PAIRS} pairs
     */
    public static TextParameters parse(ByteBuffer text) throws LoginException {
        TextParameters parameters = new TextParameters();
        byte[] bytes = new byte[text.remaining()];
        text.get(bytes);
        int start = 0;
        while (start < bytes.length) {
            int end = start;
            while (end < bytes.length && bytes[end] != 0) {
                end++;
            }
            if (end > start) {
                parameters.addPair(new String(bytes, start, end - start, StandardCharsets.UTF_8));
            }
            start = end + 1;
        }
        return parameters;
    }

    private void addPair(String pair) throws LoginException {
        int equals = pair.indexOf('=');
        if (equals <= 0) {
            throw new LoginException("text without a key");
        }
        String key = pair.substring(0, equals);
        String value = pair.substring(equals + 1);
        if (key.length() > MAX_KEY_BYTES || value.length() > MAX_VALUE_BYTES) {
            throw new LoginException("a key of more than " + MAX_KEY_BYTES + " or a value of more than "
                + MAX_VALUE_BYTES + " bytes");
        }
        if (!KEY_NAME.matcher(key).matches()) {
            throw new LoginException("a key of other characters than letters, digits and . - + @ _");
        }
        if (values.size() == MAX_PAIRS) {
            throw new LoginException("more than " + MAX_PAIRS + " keys");
        }
        if (values.putIfAbsent(key, value) != null) {
            throw new LoginException("key " + key + " was given twice");
        }
    }

    /** Adds a pair. */
    public TextParameters put(String key, Object value) {
        values.put(key, value.toString());
        return this;
    }

    /** The value of a key, or null. */
    public String value(String key) {
        return values.get(key);
    }

    /** The value of a key, or a default. */
    public String value(String key, String otherwise) {
        return values.getOrDefault(key, otherwise);
    }

    /** All pairs, in order. */
    public Map<String, String> asMap() {
        return values;
    }

    /** Whether it has no pairs. */
    public boolean isEmpty() {
        return values.isEmpty();
    }

    /** The pairs as a data segment carries them. */
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
