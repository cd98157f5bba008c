package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * An I_T nexus: one initiator port and one target (RFC 7143 section 4.4.1). The same initiator name and ISID identify the same
 * nexus, so the target recognises a learner that reconnects.
 *
 * @param initiatorName the iSCSI name of the initiator
 * @param isid the 6-byte initiator session identifier, in the low 48 bits
 * @param targetName the iSCSI name of the target
 * @param learner the learner's label from the login key {@code X-io.modeldisk.learner}, or the initiator name if the key is
 *     absent; not part of the identity
 * @param rights the rights of the session's user; not part of the identity
 * @param user the CHAP name of the session's user, or null without CHAP; not part of the identity
 * @param host the IP address of the initiator, or null if it is not known; not part of the identity
 */
public record Nexus(
    String initiatorName, long isid, String targetName, String learner, Set<Right> rights, String user, String host) {
    /** Returns whether the user of this nexus has the right. */
    public boolean may(Right right) {
        return rights.contains(right);
    }

    /**
     * Throws an exception unless the user of this nexus has the right. The initiator receives the message.
     *
     * @param doing the operation, such as {@code pushing}
     */
    public void require(Right right, String doing) throws ScsiException {
        if (!may(right)) {
            String reason = doing + " needs may=" + right + ", but user '" + user + "' has may="
                + new TreeSet<>(rights).stream().map(Right::toString).collect(Collectors.joining(","))
                + " in the shard's secrets file as initiator " + initiatorName;
            throw new ScsiException(Sense.NO_ACCESS_RIGHTS.saying(reason), reason);
        }
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
