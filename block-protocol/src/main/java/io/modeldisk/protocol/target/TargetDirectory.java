package io.modeldisk.protocol.target;

import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.TextParameters;
import java.nio.ByteBuffer;

/** Answers SendTargets (RFC 7143 appendix C). */
final class TargetDirectory {
    private TargetDirectory() {}

    static byte[] answer(Target target, String address, boolean discovery, ByteBuffer data) throws LoginException {
        TextParameters answers = new TextParameters();
        TextParameters.parse(data).asMap().forEach((key, value) -> {
            if (!key.equals(Key.SEND_TARGETS)) {
                answers.put(key, "NotUnderstood");
            } else if (value.equals("All") && !discovery) {
                answers.put(key, "Reject");
            } else if (value.equals("All") || value.isEmpty() || value.equalsIgnoreCase(target.name())) {
                answers.put(Key.TARGET_NAME, target.name());
                answers.put(Key.TARGET_ADDRESS, address + ",1");
            }
        });
        return answers.encode();
    }
}
