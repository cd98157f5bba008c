package io.modeldisk.protocol.login.chap;

import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.TextConstant;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.LoginStatus;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Map;

/**
 * A challenge: bytes that the receiver digests together with its secret, to prove that it knows the secret.
 *
 * @param algorithm the negotiated digest algorithm
 * @param identifier {@code CHAP_I}, 0 to 255
 * @param value {@code CHAP_C}, {@value #MIN_BYTES} to {@value #MAX_BYTES} bytes
 */
record ChapChallenge(ChapAlgorithm algorithm, int identifier, byte[] value) {
    static final int MIN_BYTES = 16;
    static final int MAX_BYTES = 1024;

    /** The length of a challenge that this process sends: the length of the longest digest. */
    private static final int OWN_BYTES = 32;

    static ChapChallenge draw(ChapAlgorithm algorithm, SecureRandom random) {
        byte[] value = new byte[OWN_BYTES];
        random.nextBytes(value);
        return new ChapChallenge(algorithm, random.nextInt(256), value);
    }

    /**
     * Returns the challenge in the keys that the peer sent.
     *
     * @throws LoginException if the identifier or the value is missing or out of bounds
     */
    static ChapChallenge received(ChapAlgorithm algorithm, Map<String, String> keys) throws LoginException {
        long identifier = TextConstant.number(keys.getOrDefault(Key.CHAP_I, ""), 0, 255);
        byte[] value = TextConstant.bytes(keys.getOrDefault(Key.CHAP_C, ""), MAX_BYTES);
        if (identifier < 0 || value == null || value.length < MIN_BYTES) {
            String rule = identifier < 0
                ? "CHAP_I must be from 0 to 255"
                : "CHAP_C must have " + MIN_BYTES + " to " + MAX_BYTES + " bytes";
            throw new LoginException(LoginStatus.AUTHENTICATION_FAILURE, "the peer sent an invalid challenge: " + rule);
        }
        return new ChapChallenge(algorithm, (int) identifier, value);
    }

    void putInto(TextParameters keys) {
        keys.put(Key.CHAP_I, identifier).put(Key.CHAP_C, TextConstant.hexadecimal(value));
    }

    boolean hasValueOf(ChapChallenge other) {
        return MessageDigest.isEqual(value, other.value);
    }

    /** Returns whether {@code CHAP_R} is the right response. The time of the comparison does not depend on the response. */
    boolean isAnswered(String response, ChapSecret secret) {
        byte[] expected = secret.respond(this);
        byte[] given = TextConstant.bytes(response, expected.length);
        return MessageDigest.isEqual(expected, given == null ? new byte[0] : given);
    }
}
