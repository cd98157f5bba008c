package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** NOP-Out (RFC 7143 section 11.18). */
public final class NopOutPdu extends RequestPdu {
    /** Creates a view of {@code header}. */
    public NopOutPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a response to a NOP-In, with the LUN and the target transfer tag of the NOP-In. */
    public NopOutPdu beginAnswer(long lun, int tag) {
        clear(Opcode.NOP_OUT, FLAG_FINAL, RESERVED_TAG);
        setImmediate();
        lunField(lun);
        header.putInt(TARGET_TRANSFER_TAG, tag);
        return this;
    }
}
