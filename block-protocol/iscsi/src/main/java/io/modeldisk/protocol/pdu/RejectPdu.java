package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Reject (RFC 7143 section 11.17); its data segment is the header of the rejected PDU. */
public final class RejectPdu extends ResponsePdu {
    /** The data does not match its digest. */
    public static final int DATA_DIGEST_ERROR = 0x02;

    /** Protocol error. */
    public static final int PROTOCOL_ERROR = 0x04;

    /** SNACK is not supported: no data is kept to be sent again. */
    public static final int SNACK_REJECT = 0x03;

    /** Command not supported. */
    public static final int COMMAND_NOT_SUPPORTED = 0x05;

    /** A task with this tag has not ended yet. */
    public static final int TASK_IN_PROGRESS = 0x07;

    /** Invalid PDU field. */
    public static final int INVALID_PDU_FIELD = 0x09;

    /** The exchange exceeds the room for its text. */
    public static final int LONG_OPERATION = 0x0A;

    private static final int REASON = 2;

    /** A view of {@code header}. */
    public RejectPdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a rejection. */
    public RejectPdu begin(int reason) {
        clear(Opcode.REJECT, FLAG_FINAL);
        initiatorTaskTag(RESERVED_TAG);
        dataSegmentBytes(BHS_BYTES);
        header.put(REASON, (byte) reason);
        return this;
    }

    /** Why. */
    public int reason() {
        return header.get(REASON) & 0xFF;
    }
}
