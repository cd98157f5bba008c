package io.modeldisk.protocol.login;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Negotiates text keys that the fuzzer generates, as a target and as an initiator. Checks that the agreed parameters are within
 * the limits of the initiator and the target. Checks that a target responds only to offered keys, and that its responses can be
 * parsed.
 *
 * <p>The first byte of an input selects target or initiator. The remaining bytes are the text.
 */
public final class NegotiationFuzz {
    private static final OperationalParameters OWN = new OperationalParameters(false, true, 256 * 1024, 4 << 20,
        1 << 20,
        1 << 20, Digest.CRC32C, Digest.NONE);

    private NegotiationFuzz() {}

    /** Runs one input of the fuzzer. */
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
        OperationalNegotiation negotiation = new OperationalNegotiation(OWN, false);
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
            assertThat(again.asMap()).as("responses that were parsed again").isEqualTo(answers.asMap());
        } catch (LoginException e) {
            throw new AssertionError("the responses cannot be parsed", e);
        }
        assertThat(answers.asMap().keySet()).as("keys of the responses")
            .allMatch(key -> key.equals(Key.MAX_RECV_DATA_SEGMENT_LENGTH) || offered.value(key) != null, "was offered");
    }

    private static void checkAgreed(OperationalParameters agreed) {
        within(agreed.maxBurstBytes(), OWN.maxBurstBytes());
        within(agreed.firstBurstBytes(), Math.min(OWN.firstBurstBytes(), agreed.maxBurstBytes()));
        within(agreed.peerDataSegmentBytes(), (1 << 24) - 1);
        assertThat(agreed.ownDataSegmentBytes()).as("ownDataSegmentBytes").isEqualTo(OWN.ownDataSegmentBytes());
    }

    private static void within(int value, int limit) {
        assertThat(value).as("agreed length").isBetween(512, limit);
    }
}
