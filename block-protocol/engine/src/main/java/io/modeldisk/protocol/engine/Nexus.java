package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.login.Right;
import java.util.Set;

/**
 * An I_T nexus: one initiator port and one target. The same initiator name and ISID are the same nexus, so that a learner that
 * reconnects is recognised (RFC 7143 section 4.4.1).
 *
 * @param initiatorName the iSCSI name of the initiator
 * @param isid the 6-byte initiator session identifier, in the low 48 bits
 * @param targetName the iSCSI name of the target
 * @param learner the learner's label from the login key {@code X-io.modeldisk.learner}, or the initiator name without one;
 *     not part of the identity
 * @param rights what the session's user may do; not part of the identity
 */
public record Nexus(String initiatorName, long isid, String targetName, String learner, Set<Right> rights) {
    /** A nexus with all rights. */
    public Nexus(String initiatorName, long isid, String targetName, String learner) {
        this(initiatorName, isid, targetName, learner, Right.ALL);
    }

    /** Whether its user may do this. */
    public boolean may(Right right) {
        return rights.contains(right);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Nexus that
            && isid == that.isid
            && initiatorName.equals(that.initiatorName)
            && targetName.equals(that.targetName);
    }

    @Override
    public int hashCode() {
        return (initiatorName.hashCode() * 31 + Long.hashCode(isid)) * 31 + targetName.hashCode();
    }
}
