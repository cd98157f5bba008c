package io.modeldisk.admin;

import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.files.OwnerFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** The token that a client of an {@link AdminServer} must send. Thread-safe. */
public final class AdminToken {
    private static final int MIN_LENGTH = 16;

    /**
     * The digest of the token. All digests have the same length, so the time of a comparison does not depend on the token's
     * length.
     */
    private final byte[] digest;

    private AdminToken(String token) {
        digest = digest(token);
    }

    /**
     * Reads a token from the first line of a file.
     *
     * @throws IOException if the file cannot be read, others can read it, or the token is too short or contains characters other
     *     than visible ASCII
     */
    public static AdminToken read(Path file) throws IOException {
        String token = OwnerFile.read(file, "token file").strip();
        if (token.length() < MIN_LENGTH || !token.chars().allMatch(each -> each > ' ' && each < 127)) {
            throw new SettingException("the token file " + file + " must have one line of at least " + MIN_LENGTH
                + " ASCII characters without spaces; make one with: openssl rand -hex 32");
        }
        return new AdminToken(token);
    }

    /**
     * Returns whether an HTTP header contains this token: as {@code Bearer TOKEN}, or in the form that browsers send,
     * {@code Basic} with any user name and the token as the password.
     *
     * @param authorization the value of the header {@code Authorization}, or null
     */
    boolean isIn(String authorization) {
        String[] words = authorization == null ? new String[0] : authorization.strip().split(" +", 2);
        if (words.length < 2) {
            return false;
        }
        if (words[0].equalsIgnoreCase("Bearer")) {
            return matches(words[1]);
        }
        if (!words[0].equalsIgnoreCase("Basic")) {
            return false;
        }
        try {
            String pair = new String(Base64.getDecoder().decode(words[1]), StandardCharsets.UTF_8);
            return matches(pair.substring(pair.indexOf(':') + 1));
        } catch (IllegalArgumentException e) {
            // The text is not Base64.
            return false;
        }
    }

    private boolean matches(String candidate) {
        return MessageDigest.isEqual(digest, digest(candidate));
    }

    private static byte[] digest(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime supports SHA-256", e);
        }
    }
}
