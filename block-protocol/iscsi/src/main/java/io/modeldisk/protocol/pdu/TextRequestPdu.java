package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Text Request (RFC 7143 section 11.10). */
public final class TextRequestPdu extends RequestPdu {
    private static final int FLAG_CONTINUE = 0x40;
    private static final int TARGET_TRANSFER_TAG = 20;

    /** A view of {@code header}. */
    public TextRequestPdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a request whose text fits into one PDU. */
    public TextRequestPdu begin(int initiatorTaskTag, int targetTransferTag) {
        clear(Opcode.TEXT_REQUEST, FLAG_FINAL);
        initiatorTaskTag(initiatorTaskTag);
        header.putInt(TARGET_TRANSFER_TAG, targetTransferTag);
        return this;
    }

    /** Whether more text follows in another request. */
    public boolean continues() {
        return (flags() & FLAG_CONTINUE) != 0;
    }

    /** The tag of the exchange that it continues, or the reserved tag. */
    public int targetTransferTag() {
        return header.getInt(TARGET_TRANSFER_TAG);
    }
}
