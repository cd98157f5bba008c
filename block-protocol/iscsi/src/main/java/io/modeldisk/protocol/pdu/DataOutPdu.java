package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Data-Out (RFC 7143 section 11.7). */
public final class DataOutPdu extends Pdu {
    private static final int EXP_STAT_SN = 28;

    /** Creates a view of {@code header}. */
    public DataOutPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Data-Out PDU that responds to an R2T. The reserved target transfer tag means unsolicited data. */
    public DataOutPdu begin(int initiatorTaskTag, int targetTransferTag, long lunField, int expStatSn) {
        clear(Opcode.DATA_OUT, 0, initiatorTaskTag);
        lunField(lunField);
        header.putInt(TARGET_TRANSFER_TAG, targetTransferTag).putInt(EXP_STAT_SN, expStatSn);
        return this;
    }

    /** Sets the position of the PDU's data in the data of the task. */
    public DataOutPdu data(int dataSn, int bufferOffset, int dataBytes, boolean last) {
        dataSegmentBytes(dataBytes);
        header.put(1, (byte) (last ? FLAG_FINAL : 0)).putInt(DATA_SN, dataSn).putInt(BUFFER_OFFSET, bufferOffset);
        return this;
    }

    /** The number of the PDU in its sequence of Data-Out PDUs. */
    public int dataSn() {
        return header.getInt(DATA_SN);
    }
}
