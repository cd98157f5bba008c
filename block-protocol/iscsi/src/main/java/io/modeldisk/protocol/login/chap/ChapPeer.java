package io.modeldisk.protocol.login.chap;

import io.modeldisk.protocol.login.InitiatorPattern;
import io.modeldisk.protocol.login.Right;
import java.util.List;
import java.util.Set;

/**
 * A user that may be on the other side.
 *
 * @param secret its secret
 * @param rights its rights
 * @param initiators the initiators that may log in with the secret; empty for all
 */
record ChapPeer(ChapSecret secret, Set<Right> rights, List<InitiatorPattern> initiators) {
    boolean mayBe(String initiatorName) {
        return initiators.isEmpty() || initiators.stream().anyMatch(pattern -> pattern.matches(initiatorName));
    }
}
