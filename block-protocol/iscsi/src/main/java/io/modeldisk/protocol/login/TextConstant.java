package io.modeldisk.protocol.login;

import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** Parses the constants in text values: decimal, hexadecimal and base64 (RFC 7143 section 6.1). */
public final class TextConstant {
    private static final Pattern DECIMAL = Pattern.compile("0|[1-9][0-9]{0,17}");
    private static final Pattern HEXADECIMAL = Pattern.compile("0[xX][0-9a-fA-F]+");
    private static final int MAX_HEXADECIMAL_DIGITS = 15;

    private TextConstant() {}

    /**
     * Parses a hexadecimal number, or a decimal number without leading zeros. Returns -1 if the text is malformed or the number
     * is out of bounds.
     */
    public static long number(String value, long least, long most) {
        long number = -1;
        if (DECIMAL.matcher(value).matches()) {
            number = Long.parseLong(value);
        } else if (HEXADECIMAL.matcher(value).matches()) {
            String digits = value.substring(2).replaceFirst("^0+(?=.)", "");
            number = digits.length() > MAX_HEXADECIMAL_DIGITS ? -1 : Long.parseLong(digits, 16);
        }
        return number >= least && number <= most ? number : -1;
    }

    /**
     * Parses a constant in hexadecimal ({@code 0x…}) or base64 ({@code 0b…}). Returns null if the text is malformed or has more
     * than {@code mostBytes} bytes.
     */
    public static byte[] bytes(String value, int mostBytes) {
        if (value.length() < 3 || value.length() > 2 + 2 * mostBytes || value.charAt(0) != '0') {
            return null;
        }
        String digits = value.substring(2);
        try {
            byte[] bytes = switch (value.charAt(1)) {
                case 'x', 'X' -> HexFormat.of().parseHex(digits);
                case 'b', 'B' -> Base64.getDecoder().decode(digits);
                default -> null;
            };
            return bytes == null || bytes.length > mostBytes ? null : bytes;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Returns bytes as a hexadecimal constant. */
    public static String hexadecimal(byte[] bytes) {
        return "0x" + HexFormat.of().formatHex(bytes);
    }
}
