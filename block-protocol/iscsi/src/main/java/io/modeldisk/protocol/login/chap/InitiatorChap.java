package io.modeldisk.protocol.login.chap;

import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.TextConstant;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.LoginStatus;
import java.security.SecureRandom;
import java.util.Map;

/**
 * The security stage from the initiator's side (RFC 7143 section 12.1.3). If the secrets have a peer the target must
 * authenticate too; otherwise one that asks for no authentication is taken as well. Not thread-safe.
 */
public final class InitiatorChap {
    private enum Expecting {
        METHOD, CHALLENGE, RESPONSE, NOTHING
    }

    private final ChapSecrets secrets;
    private final SecureRandom random;
    private Expecting expecting = Expecting.METHOD;
    private ChapChallenge challenge;

    /**
     * Begins.
     *
     * @throws IllegalArgumentException if the secrets have no line {@code self}
     */
    public InitiatorChap(ChapSecrets secrets, SecureRandom random) {
        if (!secrets.hasSelf()) {
            throw new IllegalArgumentException("the secrets have no line 'self NAME SECRET' to log in with");
        }
        this.secrets = secrets;
        this.random = random;
    }

    /** The value of {@code AuthMethod}. */
    public String methods() {
        return secrets.hasPeers() ? Key.CHAP : Key.CHAP + "," + Key.NONE;
    }

    /**
     * Takes the target's answer to the keys that were sent before.
     *
     * @return the keys to send next; empty after the last
     * @throws LoginException for an invalid answer, and if the target cannot authenticate
     */
    public TextParameters next(Map<String, String> answers) throws LoginException {
        TextParameters keys = new TextParameters();
        switch (expecting) {
            case METHOD -> method(answers.getOrDefault(Key.AUTH_METHOD, ""), keys);
            case CHALLENGE -> respond(answers, keys);
            case RESPONSE -> verify(answers);
            case NOTHING -> {
                // An empty answer, until the target goes to the next stage.
            }
        }
        return keys;
    }

    private void method(String method, TextParameters keys) throws LoginException {
        if (method.equals(Key.CHAP)) {
            keys.put(Key.CHAP_A, ChapAlgorithm.offer());
            expecting = Expecting.CHALLENGE;
        } else if (method.equals(Key.NONE) && !secrets.hasPeers()) {
            expecting = Expecting.NOTHING;
        } else {
            throw failure("the target answers AuthMethod=" + method + ", offered was " + methods());
        }
    }

    private void respond(Map<String, String> answers, TextParameters keys) throws LoginException {
        String chosen = answers.getOrDefault(Key.CHAP_A, "");
        ChapAlgorithm algorithm = ChapAlgorithm.strongestOf(chosen).orElseThrow(
            () -> failure("the target answers CHAP_A=" + chosen + ", offered was " + ChapAlgorithm.offer()));
        ChapChallenge targets = ChapChallenge.received(algorithm, answers);
        keys.put(Key.CHAP_N, secrets.selfName())
            .put(Key.CHAP_R, TextConstant.hexadecimal(secrets.self().respond(targets)));
        expecting = Expecting.NOTHING;
        if (secrets.hasPeers()) {
            challenge = ChapChallenge.draw(algorithm, random);
            challenge.putInto(keys);
            expecting = Expecting.RESPONSE;
        }
    }

    private void verify(Map<String, String> answers) throws LoginException {
        expecting = Expecting.NOTHING;
        ChapPeer peer = secrets.peer(answers.getOrDefault(Key.CHAP_N, ""));
        boolean answered = challenge.isAnswered(answers.getOrDefault(Key.CHAP_R, ""), peer.secret());
        if (!answered || !secrets.knows(peer)) {
            throw failure("the target cannot authenticate itself: its name or response is not that of a peer");
        }
    }

    /** Whether the target may go on to the next stage: it has authenticated if it must. */
    public boolean isDone() {
        return expecting == Expecting.NOTHING;
    }

    private static LoginException failure(String message) {
        return new LoginException(LoginStatus.AUTHENTICATION_FAILURE, message);
    }
}
