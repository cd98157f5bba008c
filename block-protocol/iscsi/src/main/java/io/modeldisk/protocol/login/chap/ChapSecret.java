package io.modeldisk.protocol.login.chap;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

/** A secret of CHAP. The secret is never sent and cannot be printed. */
public final class ChapSecret {
    /** The minimum length: a secret below 96 bits could be guessed from the messages on the wire (RFC 7143 section 9.2.1). */
    public static final int MIN_BYTES = 12;

    /** The maximum length, which is enough for every initiator. */
    public static final int MAX_BYTES = 256;

    private final byte[] bytes;

    /** Copies the bytes of a secret. The caller must check the length. */
    ChapSecret(byte[] bytes) {
        this.bytes = bytes.clone();
    }

    static ChapSecret of(String text) {
        return new ChapSecret(text.getBytes(StandardCharsets.UTF_8));
    }

    static boolean isLongEnough(String text) {
        int length = text.getBytes(StandardCharsets.UTF_8).length;
        return length >= MIN_BYTES && length <= MAX_BYTES;
    }

    /** Returns the response to a challenge: a digest of identifier, secret and challenge (RFC 1994 section 4.1). */
    byte[] respond(ChapChallenge challenge) {
        MessageDigest digest = challenge.algorithm().newDigest();
        digest.update((byte) challenge.identifier());
        digest.update(bytes);
        return digest.digest(challenge.value());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChapSecret that && MessageDigest.isEqual(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "(a secret)";
    }
}
