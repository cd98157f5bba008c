package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.login.Key;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.RejectPdu;
import io.modeldisk.protocol.pdu.TextRequestPdu;
import io.modeldisk.protocol.pdu.TextResponsePdu;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The text exchange of a session in the full-feature phase (RFC 7143 sections 6.4 and 11.10). Gathers a text request from several
 * PDUs, and splits the response into parts that the initiator accepts. There is one exchange at a time, as the RFC requires. Used
 * only by the receiver thread.
 */
final class TextExchange {
    private static final int NO_REASON = 0;

    private final Target target;
    private final List<String> addresses;
    private final boolean discovery;
    private ByteArrayOutputStream gathered = new ByteArrayOutputStream();
    private byte[] answer = {};
    private int answered;
    private int initiatorTaskTag = Pdu.RESERVED_TAG;
    private int targetTransferTag;
    private boolean last;

    /** Creates an exchange of a session. {@code addresses} are the values of the key TargetAddress. */
    TextExchange(Target target, List<String> addresses, boolean discovery) {
        this.target = target;
        this.addresses = addresses;
        this.discovery = discovery;
    }

    /** Receives a text request. Returns the reason to reject the request, or 0 if {@link #respond} must be called. */
    int take(TextRequestPdu request, ByteBuffer text) {
        if (request.targetTransferTag() == Pdu.RESERVED_TAG) {
            begin(request.initiatorTaskTag());
        } else if (request.targetTransferTag() != targetTransferTag
            || request.initiatorTaskTag() != initiatorTaskTag) {
            return RejectPdu.INVALID_PDU_FIELD;
        }
        if (request.initiatorTaskTag() == Pdu.RESERVED_TAG || request.continues() && request.isFinal()) {
            return RejectPdu.INVALID_PDU_FIELD;
        }
        if (answered < answer.length && text.hasRemaining()) {
            return RejectPdu.PROTOCOL_ERROR;
        }
        if (gathered.size() + text.remaining() > TextParameters.MAX_TEXT_BYTES) {
            end();
            return RejectPdu.LONG_OPERATION;
        }
        byte[] part = new byte[text.remaining()];
        text.get(part);
        gathered.writeBytes(part);
        last = request.isFinal();
        return request.continues() ? NO_REASON : understand();
    }

    private int understand() {
        if (gathered.size() == 0) {
            return NO_REASON;
        }
        try {
            answer = answer(TextParameters.parse(ByteBuffer.wrap(gathered.toByteArray())));
            answered = 0;
            gathered.reset();
            return NO_REASON;
        } catch (LoginException e) {
            end();
            return RejectPdu.PROTOCOL_ERROR;
        }
    }

    /** Returns the text of the response to a complete request (SendTargets: RFC 7143 appendix C). */
    private byte[] answer(TextParameters request) {
        StringBuilder answers = new StringBuilder();
        request.asMap().forEach((key, value) -> {
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

    /** Sets the header of the response, and writes as much of the response text to {@code text} as fits. */
    void respond(TextResponsePdu response, ByteBuffer text) {
        int part = Math.min(answer.length - answered, text.remaining());
        text.put(answer, answered, part);
        answered += part;
        boolean continues = answered < answer.length;
        if (last && !continues) {
            response.beginFinal(initiatorTaskTag);
            end();
        } else {
            response.beginPart(initiatorTaskTag, targetTransferTag, continues);
        }
    }

    private void begin(int tag) {
        end();
        initiatorTaskTag = tag;
    }

    /** Ends the exchange and makes its tags invalid. */
    private void end() {
        gathered = new ByteArrayOutputStream();
        answer = new byte[0];
        answered = 0;
        initiatorTaskTag = Pdu.RESERVED_TAG;
        targetTransferTag = targetTransferTag + 1 & Integer.MAX_VALUE;
    }
}
