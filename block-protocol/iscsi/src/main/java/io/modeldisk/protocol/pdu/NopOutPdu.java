package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** NOP-Out (RFC 7143 section 11.18). */
public final class NopOutPdu extends RequestPdu {
    private static final int TARGET_TRANSFER_TAG = 20;

    /** Creates a view of {@code header}. */
    public NopOutPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a response to a NOP-In, with the LUN and the target transfer tag of the NOP-In. */
    public NopOutPdu beginAnswer(long lun, int tag) {
        clear(Opcode.NOP_OUT, FLAG_FINAL);
        setImmediate();
        lunField(lun);
        initiatorTaskTag(RESERVED_TAG);
        header.putInt(TARGET_TRANSFER_TAG, tag);
        return this;
    }

    /** Fills the header with a ping to which the target responds. */
    public NopOutPdu beginPing(int initiatorTaskTag) {
        clear(Opcode.NOP_OUT, FLAG_FINAL);
        setImmediate();
        initiatorTaskTag(initiatorTaskTag);
        header.putInt(TARGET_TRANSFER_TAG, RESERVED_TAG);
        return this;
    }

    /** The tag of the NOP-In that this PDU responds to; the reserved tag for a ping. */
    public int targetTransferTag() {
        return header.getInt(TARGET_TRANSFER_TAG);
    }
}
