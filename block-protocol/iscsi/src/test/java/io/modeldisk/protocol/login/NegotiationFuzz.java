package io.modeldisk.protocol.login;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Text keys that the fuzzer makes up, for a target to answer and for an initiator to accept. The result is within the limits
 * of both sides; every key is answered once, by text that can be read again.
 *
 * <p>The first byte of an input selects the side that reads the rest.
 */
public final class NegotiationFuzz {
    private static final OperationalParameters OWN = new OperationalParameters(false, true, 256 * 1024, 4 << 20,
        1 << 20,
        1 << 20, Digest.CRC32C, Digest.NONE);

    private NegotiationFuzz() {}

    /** The fuzzer's entry. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        TextParameters text;
        try {
            text = TextParameters.parse(ByteBuffer.wrap(Arrays.copyOfRange(input, 1, input.length)));
        } catch (LoginException e) {
            return;
        }
        OperationalNegotiation negotiation = new OperationalNegotiation(OWN);
        if ((input[0] & 1) == 0) {
            TextParameters answers = new TextParameters();
            negotiation.answer(text.asMap(), answers, (input[0] & 2) != 0);
            checkAnswers(text, answers);
        } else {
            try {
                negotiation.offers();
                negotiation.accept(text.asMap());
                negotiation.conclude();
            } catch (LoginException e) {
                return;
            }
        }
        checkAgreed(negotiation.result());
    }

    private static void checkAnswers(TextParameters offered, TextParameters answers) {
        try {
            TextParameters again = TextParameters.parse(ByteBuffer.wrap(answers.encode()));
            check(again.asMap().equals(answers.asMap()), "answers that are read otherwise");
        } catch (LoginException e) {
            throw new AssertionError("answers that cannot be read", e);
        }
        for (String key : answers.asMap().keySet()) {
            boolean declared = key.equals(Key.MAX_RECV_DATA_SEGMENT_LENGTH);
            check(declared || offered.value(key) != null, "an answer to what was not asked: " + key);
        }
    }

    private static void checkAgreed(OperationalParameters agreed) {
        within(agreed.maxBurstBytes(), OWN.maxBurstBytes());
        within(agreed.firstBurstBytes(), Math.min(OWN.firstBurstBytes(), agreed.maxBurstBytes()));
        within(agreed.peerDataSegmentBytes(), (1 << 24) - 1);
        check(agreed.ownDataSegmentBytes() == OWN.ownDataSegmentBytes(), "this side's own limit");
    }

    private static void within(int value, int limit) {
        check(value >= 512 && value <= limit, value + " is not from 512 to " + limit);
    }

    private static void check(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }
}
