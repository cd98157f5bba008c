package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Text Response (RFC 7143 section 11.11). */
public final class TextResponsePdu extends ResponsePdu {
    private static final int TARGET_TRANSFER_TAG = 20;

    /** A view of {@code header}. */
    public TextResponsePdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a response that is whole in one PDU. */
    public TextResponsePdu begin(int initiatorTaskTag) {
        clear(Opcode.TEXT_RESPONSE, FLAG_FINAL);
        initiatorTaskTag(initiatorTaskTag);
        header.putInt(TARGET_TRANSFER_TAG, RESERVED_TAG);
        return this;
    }
}
