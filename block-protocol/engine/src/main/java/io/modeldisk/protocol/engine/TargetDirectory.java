package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.TextParameters;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Creates the responses to SendTargets requests (RFC 7143 appendix C). */
final class TargetDirectory {
    private TargetDirectory() {}

    /** Returns the text of the response. {@code addresses} are the values of the key TargetAddress. */
    static byte[] answer(Target target, List<String> addresses, boolean discovery, ByteBuffer data)
        throws LoginException {
        StringBuilder answers = new StringBuilder();
        TextParameters.parse(data).asMap().forEach((key, value) -> {
            if (!key.equals(Key.SEND_TARGETS)) {
                put(answers, key, "NotUnderstood");
            } else if (value.equals("All") && !discovery) {
                put(answers, key, "Reject");
            } else if (value.equals("All") || value.isEmpty() || value.equalsIgnoreCase(target.name())) {
                put(answers, Key.TARGET_NAME, target.name());
                addresses.forEach(address -> put(answers, Key.TARGET_ADDRESS, address));
            }
        });
        return answers.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void put(StringBuilder answers, String key, String value) {
        answers.append(key).append('=').append(value).append('\0');
    }
}
