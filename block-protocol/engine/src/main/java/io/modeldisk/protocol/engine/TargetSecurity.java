package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.login.chap.TargetChap;
import io.modeldisk.protocol.pdu.LoginStatus;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Performs the security stage of a login (RFC 7143 section 6.3.2). Uses CHAP only if the policy has secrets. */
final class TargetSecurity {
    private final AccessPolicy policy;
    private final SecureRandom random;
    private TargetChap chap;

    TargetSecurity(AccessPolicy policy, SecureRandom random) {
        this.policy = policy;
        this.random = random;
    }

    /** Processes the keys of one exchange of the security stage, and adds the response keys to {@code answers}. */
    void exchange(Map<String, String> offered, TextParameters answers) throws LoginException {
        String methods = offered.get(Key.AUTH_METHOD);
        if (methods != null && chap == null) {
            choose(methods, answers);
        } else if (chap != null) {
            chap.exchange(offered, answers);
        }
    }

    private void choose(String methods, TextParameters answers) throws LoginException {
        String required = policy.secrets() == null ? Key.NONE : Key.CHAP;
        LoginException.require(List.of(methods.split(",", -1)).contains(required), LoginStatus.AUTHENTICATION_FAILURE,
            policy.secrets() != null
                ? "AuthMethod must include " + required + ", but is " + methods
                : "this shard has no secrets, so it cannot authenticate itself; start it with --secrets");
        answers.put(Key.AUTH_METHOD, required);
        if (policy.secrets() != null) {
            chap = new TargetChap(policy.secrets(), random);
        }
    }

    /** True if the security stage is complete. */
    boolean isDone() {
        return policy.secrets() == null || chap != null && chap.isDone();
    }

    /** Checks that authentication has begun. Called when a login leaves the security stage or begins in a later stage. */
    void requireBegun() throws LoginException {
        LoginException.require(policy.secrets() == null || chap != null, LoginStatus.AUTHENTICATION_FAILURE,
            "the initiator did not authenticate, but AuthMethod=CHAP is required");
    }

    /** Checks that the authenticated user is allowed to log in with this initiator name. */
    void authorize(String initiatorName) throws LoginException {
        String refusal = chap == null ? null : chap.refusal(initiatorName);
        if (refusal != null) {
            // A log and a peer may cut a long text, so the name, which can have 223 bytes, is last.
            String end = ", so user '" + user() + "' may not log in as initiator " + initiatorName;
            String logged = refusal.equals(ChapSecrets.RESERVED) ? chap.reservation(initiatorName) : refusal;
            throw new LoginException(LoginStatus.AUTHORIZATION_FAILURE, refusal + end, logged + end);
        }
    }

    /** Returns the rights of the authenticated user in a session of this initiator, or all rights without CHAP. */
    Set<Right> rights(String initiatorName) {
        return chap == null ? Right.ALL : chap.rights(initiatorName);
    }

    /** Returns the CHAP name of the initiator, or null without CHAP. */
    String user() {
        return chap == null ? null : chap.user();
    }
}
