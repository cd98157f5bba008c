package io.modeldisk.protocol.login.chap;

import io.modeldisk.protocol.login.InitiatorPattern;
import io.modeldisk.protocol.login.Right;
import java.util.List;
import java.util.Set;

/**
 * A CHAP user: an initiator that may log in to the target, or the target that an initiator expects.
 *
 * @param secret the secret of the user
 * @param rights the rights of the user
 * @param initiators the initiators that may log in with the secret; empty if all initiators may
 */
record ChapPeer(ChapSecret secret, Set<Right> rights, List<InitiatorPattern> initiators) {
    /** Returns whether a pattern of this peer names the initiator. */
    boolean names(String initiatorName) {
        return initiators.stream().anyMatch(pattern -> pattern.matches(initiatorName));
    }
}
