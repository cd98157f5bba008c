package io.modeldisk.protocol.login.chap;

import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.login.TextConstant;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.LoginStatus;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The target's part of CHAP (RFC 7143 section 12.1.3), after {@code AuthMethod=CHAP}. The initiator offers algorithms. The target
 * chooses an algorithm and sends a challenge. The initiator responds, and can also challenge the target. The target accepts only
 * one response to a challenge. Every error ends the login. Not thread-safe.
 */
public final class TargetChap {
    private static final Set<String> RESPONSE = Set.of(Key.CHAP_N, Key.CHAP_R);
    private static final Set<String> RESPONSE_AND_CHALLENGE = Set.of(Key.CHAP_N, Key.CHAP_R, Key.CHAP_I, Key.CHAP_C);

    private enum Expecting {
        ALGORITHM, RESPONSE, NOTHING
    }

    private final ChapSecrets secrets;
    private final SecureRandom random;
    private Expecting expecting = Expecting.ALGORITHM;
    private ChapChallenge challenge;
    private String user;

    /** Starts the exchange of one login, with the users that may log in and the source of random challenges. */
    public TargetChap(ChapSecrets secrets, SecureRandom random) {
        this.secrets = secrets;
        this.random = random;
    }

    /**
     * Processes the keys that the initiator sent, and adds the responses to {@code answers}. Keys that do not belong to CHAP are
     * ignored.
     *
     * @throws LoginException with status authentication failure for a wrong name, response or challenge; with status initiator
     *     error for CHAP keys that are missing or unexpected
     */
    public void exchange(Map<String, String> offered, TextParameters answers) throws LoginException {
        Set<String> keys = offered.keySet().stream().filter(key -> key.startsWith(Key.CHAP_PREFIX))
            .collect(Collectors.toUnmodifiableSet());
        if (keys.isEmpty()) {
            return;
        }
        switch (expecting) {
            case ALGORITHM -> {
                require(keys.equals(Set.of(Key.CHAP_A)), keys, "CHAP_A");
                choose(offered.get(Key.CHAP_A), answers);
            }
            case RESPONSE -> {
                require(keys.equals(RESPONSE) || keys.equals(RESPONSE_AND_CHALLENGE), keys,
                    "CHAP_N and CHAP_R, with both CHAP_I and CHAP_C or without them");
                expecting = Expecting.NOTHING;
                verify(offered, answers);
            }
            case NOTHING -> require(false, keys, "no more keys of CHAP");
        }
    }

    private static void require(boolean condition, Set<String> keys, String expected) throws LoginException {
        LoginException.require(condition,
            "the initiator sent the keys " + keys.stream().sorted().toList() + "; the target expected " + expected);
    }

    private void choose(String offer, TextParameters answers) throws LoginException {
        ChapAlgorithm algorithm = ChapAlgorithm.strongestOf(offer).orElseThrow(() -> new LoginException(
            LoginStatus.AUTHENTICATION_FAILURE,
            "the initiator offered none of the CHAP algorithms that the target supports: " + ChapAlgorithm.offer()));
        challenge = ChapChallenge.draw(algorithm, random);
        challenge.putInto(answers.put(Key.CHAP_A, algorithm.number()));
        expecting = Expecting.RESPONSE;
    }

    private void verify(Map<String, String> offered, TextParameters answers) throws LoginException {
        String name = offered.get(Key.CHAP_N);
        ChapSecrets.Peer peer = secrets.peer(name);
        boolean answered = challenge.isAnswered(offered.get(Key.CHAP_R), peer.secret());
        LoginException.require(answered && secrets.knows(peer), LoginStatus.AUTHENTICATION_FAILURE,
            "the secrets file has no user '" + name + "', or the initiator has another secret for this user");
        if (offered.containsKey(Key.CHAP_C)) {
            answer(ChapChallenge.received(challenge.algorithm(), offered), answers);
        }
        user = name;
    }

    private void answer(ChapChallenge initiators, TextParameters answers) throws LoginException {
        LoginException.require(!initiators.hasValueOf(challenge), LoginStatus.AUTHENTICATION_FAILURE,
            "the initiator sent the target's own CHAP challenge back");
        LoginException.require(secrets.hasSelf(), LoginStatus.AUTHENTICATION_FAILURE,
            "the initiator asked the target to authenticate itself (mutual CHAP), but the target's secrets have no"
                + " line 'self NAME SECRET'; add such a line to the shard's secrets file");
        answers.put(Key.CHAP_N, secrets.selfName())
            .put(Key.CHAP_R, TextConstant.hexadecimal(secrets.self().respond(initiators)));
    }

    /** Returns whether the initiator has authenticated. */
    public boolean isDone() {
        return user != null;
    }

    /** Returns the rights of the user that has authenticated, in a session of this initiator. */
    public Set<Right> rights(String initiatorName) {
        return secrets.rights(user, initiatorName);
    }

    /** The user that has authenticated, or null. */
    public String user() {
        return user;
    }

    /** Returns the reason why the user that has authenticated may not log in as this initiator; null if the user may. */
    public String refusal(String initiatorName) {
        return secrets.refusal(user, initiatorName);
    }

    /** Returns which line reserves the initiator name, as text for the log; null if none does. */
    public String reservation(String initiatorName) {
        return secrets.reservation(initiatorName);
    }
}
