package io.modeldisk.protocol.login.chap;

import io.modeldisk.platform.Arguments;
import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.TextConstant;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.LoginStatus;
import java.security.SecureRandom;
import java.util.Map;

/**
 * The initiator's part of the security stage (RFC 7143 section 12.1.3). If the secrets have a peer, the target must authenticate
 * too. Otherwise the initiator also logs in to a target that requires no authentication. Not thread-safe.
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
     * Starts the exchange of one login.
     *
     * @throws IllegalArgumentException if the secrets have no line {@code self}
     */
    public InitiatorChap(ChapSecrets secrets, SecureRandom random) {
        Arguments.require(secrets.hasSelf(),
            "the secrets have no line 'self NAME SECRET', which a login needs; add such a line");
        this.secrets = secrets;
        this.random = random;
    }

    /** Returns the value of {@code AuthMethod} to offer. */
    public String methods() {
        return secrets.hasPeers() ? Key.CHAP : Key.CHAP + "," + Key.NONE;
    }

    /**
     * Processes the target's response to the keys that were sent before.
     *
     * @return the keys to send next; empty if there are no more keys to send
     * @throws LoginException if the response is invalid, or if the target cannot authenticate
     */
    public TextParameters next(Map<String, String> answers) throws LoginException {
        TextParameters keys = new TextParameters();
        switch (expecting) {
            case METHOD -> method(answers.getOrDefault(Key.AUTH_METHOD, ""), keys);
            case CHALLENGE -> respond(answers, keys);
            case RESPONSE -> verify(answers);
            case NOTHING -> {
                // No keys are sent until the target changes to the next stage.
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
            throw failure("the target responded with AuthMethod=" + method + "; the initiator offered " + methods());
        }
    }

    private void respond(Map<String, String> answers, TextParameters keys) throws LoginException {
        String chosen = answers.getOrDefault(Key.CHAP_A, "");
        ChapAlgorithm algorithm = ChapAlgorithm.strongestOf(chosen).orElseThrow(
            () -> failure(
                "the target responded with CHAP_A=" + chosen + "; the initiator offered " + ChapAlgorithm.offer()));
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
        ChapSecrets.Peer peer = secrets.peer(answers.getOrDefault(Key.CHAP_N, ""));
        boolean answered = challenge.isAnswered(answers.getOrDefault(Key.CHAP_R, ""), peer.secret());
        if (!answered || !secrets.knows(peer)) {
            throw failure(
                "the target cannot authenticate itself: no line 'peer NAME SECRET' in the initiator's secrets matches"
                    + " the target's CHAP name and response");
        }
    }

    /** Returns whether the exchange is complete, so the login can continue with the next stage. */
    public boolean isDone() {
        return expecting == Expecting.NOTHING;
    }

    private static LoginException failure(String message) {
        return new LoginException(LoginStatus.AUTHENTICATION_FAILURE, message);
    }
}
