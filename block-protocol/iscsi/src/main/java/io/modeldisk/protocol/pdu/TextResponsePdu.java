package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Text Response (RFC 7143 section 11.11). */
public final class TextResponsePdu extends ResponsePdu {

    /** Creates a view of {@code header}. */
    public TextResponsePdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Text Response that completes an exchange. */
    public TextResponsePdu beginFinal(int initiatorTaskTag) {
        return begin(initiatorTaskTag, FLAG_FINAL, RESERVED_TAG);
    }

    /**
     * Fills the header with a Text Response whose exchange continues with this tag. {@code continues} means that more text
     * follows.
     */
    public TextResponsePdu beginPart(int initiatorTaskTag, int targetTransferTag, boolean continues) {
        return begin(initiatorTaskTag, continues ? FLAG_CONTINUE : 0, targetTransferTag);
    }

    private TextResponsePdu begin(int initiatorTaskTag, int flags, int targetTransferTag) {
        clear(Opcode.TEXT_RESPONSE, flags, initiatorTaskTag);
        header.putInt(TARGET_TRANSFER_TAG, targetTransferTag);
        return this;
    }
}
