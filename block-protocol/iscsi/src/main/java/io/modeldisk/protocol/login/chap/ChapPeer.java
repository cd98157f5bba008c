package io.modeldisk.protocol.login.chap;

import io.modeldisk.protocol.login.InitiatorPattern;
import java.util.List;

/**
 * Somebody who may be on the other side.
 *
 * @param secret its secret
 * @param initiators the initiators that may log in with it; all if there is none
 */
record ChapPeer(ChapSecret secret, List<InitiatorPattern> initiators) {
    boolean mayBe(String initiatorName) {
        return initiators.isEmpty() || initiators.stream().anyMatch(pattern -> pattern.matches(initiatorName));
    }
}
