package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Reject (RFC 7143 section 11.17). The data segment is the header of the rejected PDU. */
public final class RejectPdu extends ResponsePdu {
    /** Reason: the data does not match its digest. */
    public static final int DATA_DIGEST_ERROR = 0x02;

    /** Reason: the PDU violates the protocol. */
    public static final int PROTOCOL_ERROR = 0x04;

    /** Reason: SNACK is not supported, because the target does not keep data to send it again. */
    public static final int SNACK_REJECT = 0x03;

    /** Reason: the command is not supported. */
    public static final int COMMAND_NOT_SUPPORTED = 0x05;

    /** Reason: a task with this tag is still in progress. */
    public static final int TASK_IN_PROGRESS = 0x07;

    /** Reason: a field of the PDU is invalid. */
    public static final int INVALID_PDU_FIELD = 0x09;

    /** Reason: the text of the exchange is longer than the limit. */
    public static final int LONG_OPERATION = 0x0A;

    private static final int REASON = 2;

    /** Creates a view of {@code header}. */
    public RejectPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Reject for this reason. */
    public RejectPdu begin(int reason) {
        clear(Opcode.REJECT, FLAG_FINAL, RESERVED_TAG);
        dataSegmentBytes(BHS_BYTES);
        header.put(REASON, (byte) reason);
        return this;
    }

    /** The code of the reason. */
    public int reason() {
        return header.get(REASON) & 0xFF;
    }
}
