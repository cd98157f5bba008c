package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** NOP-Out (RFC 7143 section 11.18). */
public final class NopOutPdu extends RequestPdu {
    private static final int TARGET_TRANSFER_TAG = 20;

    /** A view of {@code header}. */
    public NopOutPdu(ByteBuffer header) {
        super(header);
    }

    /** Begins an answer to a NOP-In that asked for one, with its LUN and target transfer tag. */
    public NopOutPdu beginAnswer(long lun, int tag) {
        clear(Opcode.NOP_OUT, FLAG_FINAL);
        setImmediate();
        lunField(lun);
        initiatorTaskTag(RESERVED_TAG);
        header.putInt(TARGET_TRANSFER_TAG, tag);
        return this;
    }

    /** Begins a ping that the target answers. */
    public NopOutPdu beginPing(int initiatorTaskTag) {
        clear(Opcode.NOP_OUT, FLAG_FINAL);
        setImmediate();
        initiatorTaskTag(initiatorTaskTag);
        header.putInt(TARGET_TRANSFER_TAG, RESERVED_TAG);
        return this;
    }

    /** The tag of the NOP-In that it answers, or the reserved one. */
    public int targetTransferTag() {
        return header.getInt(TARGET_TRANSFER_TAG);
    }
}
