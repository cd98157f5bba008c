package io.modeldisk.mount.tensor;

import io.modeldisk.platform.text.PlainText;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The name of the file of a tensor. These rules ensure that different tensors have different file names:
 *
 * <ul>
 * <li>a slash, a percent sign, a control character, and a dot at the start are written as a percent sign and two hexadecimal
 * digits for each byte of the character in UTF-8
 * <li>the empty name is written as a percent sign
 * <li>a name that is too long for a file name is cut, and a percent sign, a tilde and the start of the SHA-256 digest of the
 * whole name are appended
 * </ul>
 */
final class TensorFileName {
    private static final String SUFFIX = ".npy";
    private static final int MAX_BYTES = 255 - SUFFIX.length();
    private static final int DIGEST_BYTES = 16;
    private static final String CUT = "%~";
    private static final int CUT_BYTES = MAX_BYTES - CUT.length() - 2 * DIGEST_BYTES;
    private static final int DELETE = 0x7F;

    private TensorFileName() {}

    /** Returns the file name of the tensor with this name, of at most 255 bytes in UTF-8. */
    static String of(String tensor) {
        if (tensor.isEmpty()) {
            return "%" + SUFFIX;
        }
        StringBuilder name = new StringBuilder();
        int bytes = 0;
        int cutAt = 0;
        for (int at = 0; at < tensor.length(); at = tensor.offsetByCodePoints(at, 1)) {
            String escaped = escaped(tensor.codePointAt(at), at == 0);
            name.append(escaped);
            bytes += escaped.getBytes(StandardCharsets.UTF_8).length;
            cutAt = bytes <= CUT_BYTES ? name.length() : cutAt;
        }
        if (bytes > MAX_BYTES) {
            name.setLength(cutAt);
            name.append(CUT).append(digest(tensor));
        }
        return name + SUFFIX;
    }

    private static String escaped(int character, boolean first) {
        boolean plain = character != '/' && character != '%' && !Character.isISOControl(character)
            && character != DELETE && !(first && character == '.');
        if (plain) {
            return Character.toString(character);
        }
        StringBuilder escaped = new StringBuilder();
        for (byte each : Character.toString(character).getBytes(StandardCharsets.UTF_8)) {
            escaped.append(PlainText.format("%%%02X", each));
        }
        return escaped.toString();
    }

    private static String digest(String name) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java does not provide SHA-256", e);
        }
    }
}
