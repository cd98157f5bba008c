package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** NOP-In (RFC 7143 section 11.19). */
public final class NopInPdu extends ResponsePdu {
    private static final int TARGET_TRANSFER_TAG = 20;

    /** A view of {@code header}. */
    public NopInPdu(ByteBuffer header) {
        super(header);
    }

    /** Begins an answer to a NOP-Out, or a ping of the target's own if {@code initiatorTaskTag} is the reserved tag. */
    public NopInPdu begin(int initiatorTaskTag, int targetTransferTag, long lunField) {
        clear(Opcode.NOP_IN, FLAG_FINAL);
        lunField(lunField);
        initiatorTaskTag(initiatorTaskTag);
        header.putInt(TARGET_TRANSFER_TAG, targetTransferTag);
        return this;
    }

    /** The tag that an answer must carry; the reserved tag if no answer is expected. */
    public int targetTransferTag() {
        return header.getInt(TARGET_TRANSFER_TAG);
    }
}
