package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** NOP-In (RFC 7143 section 11.19). */
public final class NopInPdu extends ResponsePdu {

    /** Creates a view of {@code header}. */
    public NopInPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a response to a NOP-Out, or with a ping if {@code initiatorTaskTag} is the reserved tag. */
    public NopInPdu begin(int initiatorTaskTag, int targetTransferTag, long lunField) {
        clear(Opcode.NOP_IN, FLAG_FINAL, initiatorTaskTag);
        lunField(lunField);
        header.putInt(TARGET_TRANSFER_TAG, targetTransferTag);
        return this;
    }
}
