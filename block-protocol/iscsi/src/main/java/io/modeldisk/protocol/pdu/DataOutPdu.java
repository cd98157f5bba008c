package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Data-Out (RFC 7143 section 11.7). */
public final class DataOutPdu extends Pdu {
    private static final int TARGET_TRANSFER_TAG = 20;
    private static final int EXP_STAT_SN = 28;
    private static final int DATA_SN = 36;
    private static final int BUFFER_OFFSET = 40;

    /** A view of {@code header}. */
    public DataOutPdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a PDU that answers an R2T, or is unsolicited if the tag is the reserved one. */
    public DataOutPdu begin(int initiatorTaskTag, int targetTransferTag, long lunField, int expStatSn) {
        clear(Opcode.DATA_OUT, 0);
        lunField(lunField);
        initiatorTaskTag(initiatorTaskTag);
        header.putInt(TARGET_TRANSFER_TAG, targetTransferTag).putInt(EXP_STAT_SN, expStatSn);
        return this;
    }

    /** Sets its place in the task's data. */
    public DataOutPdu data(int dataSn, int bufferOffset, int dataBytes, boolean last) {
        dataSegmentBytes(dataBytes);
        header.put(1, (byte) (last ? FLAG_FINAL : 0)).putInt(DATA_SN, dataSn).putInt(BUFFER_OFFSET, bufferOffset);
        return this;
    }

    /** The tag of the R2T that it answers, or the reserved one. */
    public int targetTransferTag() {
        return header.getInt(TARGET_TRANSFER_TAG);
    }

    /** Its number within its sequence. */
    public int dataSn() {
        return header.getInt(DATA_SN);
    }

    /** Where in the task's data this PDU's lie; unsigned. */
    public long bufferOffset() {
        return header.getInt(BUFFER_OFFSET) & 0xFFFFFFFFL;
    }
}
