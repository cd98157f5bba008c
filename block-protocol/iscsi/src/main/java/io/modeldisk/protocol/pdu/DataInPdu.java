package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Data-In (RFC 7143 section 11.7). */
public final class DataInPdu extends ResponsePdu {
    private static final int FLAG_STATUS = 0x01;
    private static final int STATUS = 3;
    private static final int TARGET_TRANSFER_TAG = 20;
    private static final int DATA_SN = 36;
    private static final int BUFFER_OFFSET = 40;

    /** A view of {@code header}. */
    public DataInPdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a PDU with its place in the task's data. */
    public DataInPdu begin(int initiatorTaskTag, int dataSn, int bufferOffset, int dataBytes, boolean last) {
        clear(Opcode.DATA_IN, last ? FLAG_FINAL : 0);
        initiatorTaskTag(initiatorTaskTag);
        dataSegmentBytes(dataBytes);
        header.putInt(TARGET_TRANSFER_TAG, RESERVED_TAG).putInt(DATA_SN, dataSn).putInt(BUFFER_OFFSET, bufferOffset);
        return this;
    }

    /** Carries the status of the command as well: no SCSI Response follows. */
    public DataInPdu withStatus(int status, long residual) {
        header.put(1, (byte) (header.get(1) | FLAG_STATUS)).put(STATUS, (byte) status);
        ScsiResponsePdu.setResidual(header, residual);
        return this;
    }

    /** Whether it carries the command's status. */
    public boolean hasStatus() {
        return (flags() & FLAG_STATUS) != 0;
    }

    /** The SCSI status, if it has one. */
    public int status() {
        return header.get(STATUS) & 0xFF;
    }

    /** Where in the task's data this PDU's lie; unsigned. */
    public long bufferOffset() {
        return header.getInt(BUFFER_OFFSET) & 0xFFFFFFFFL;
    }

    /** The PDU's number among the task's Data-In PDUs. */
    public int dataSn() {
        return header.getInt(DATA_SN);
    }
}
