package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Text Request (RFC 7143 section 11.10). */
public final class TextRequestPdu extends RequestPdu {
    private static final int FLAG_CONTINUE = 0x40;
    private static final int TARGET_TRANSFER_TAG = 20;

    /** Creates a view of {@code header}. */
    public TextRequestPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Text Request whose text fits into one PDU. */
    public TextRequestPdu begin(int initiatorTaskTag, int targetTransferTag) {
        clear(Opcode.TEXT_REQUEST, FLAG_FINAL);
        initiatorTaskTag(initiatorTaskTag);
        header.putInt(TARGET_TRANSFER_TAG, targetTransferTag);
        return this;
    }

    /** Returns whether more text follows in another request. */
    public boolean continues() {
        return (flags() & FLAG_CONTINUE) != 0;
    }

    /** The tag of the exchange that this request continues; the reserved tag for a new exchange. */
    public int targetTransferTag() {
        return header.getInt(TARGET_TRANSFER_TAG);
    }
}
