package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Data-In (RFC 7143 section 11.7). */
public final class DataInPdu extends ResponsePdu {
    private static final int FLAG_STATUS = 0x01;
    private static final int STATUS = 3;

    /** Creates a view of {@code header}. */
    public DataInPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Data-In PDU and the position of its data in the data of the task. */
    public DataInPdu begin(int initiatorTaskTag, int dataSn, int bufferOffset, int dataBytes, boolean last) {
        clear(Opcode.DATA_IN, last ? FLAG_FINAL : 0, initiatorTaskTag);
        dataSegmentBytes(dataBytes);
        header.putInt(TARGET_TRANSFER_TAG, RESERVED_TAG).putInt(DATA_SN, dataSn).putInt(BUFFER_OFFSET, bufferOffset);
        return this;
    }

    /** Adds the status of the command, so no SCSI Response follows. */
    public DataInPdu withStatus(int status, long residual) {
        header.put(1, (byte) (header.get(1) | FLAG_STATUS)).put(STATUS, (byte) status);
        ScsiResponsePdu.setResidual(header, residual);
        return this;
    }

    /** Returns whether the PDU carries the status of the command. */
    public boolean hasStatus() {
        return (flags() & FLAG_STATUS) != 0;
    }

    /** The SCSI status, if {@link #hasStatus} is true. */
    public int status() {
        return header.get(STATUS) & 0xFF;
    }
}
