package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Ready To Transfer (RFC 7143 section 11.8). */
public final class R2tPdu extends ResponsePdu {
    private static final int DESIRED_DATA_TRANSFER_LENGTH = 44;

    /** Creates a view of {@code header}. */
    public R2tPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with an R2T for a part of a task's data. */
    public R2tPdu begin(int initiatorTaskTag, int targetTransferTag, int r2tSn, int bufferOffset, int desiredBytes) {
        clear(Opcode.R2T, FLAG_FINAL, initiatorTaskTag);
        header.putInt(TARGET_TRANSFER_TAG, targetTransferTag)
            .putInt(DATA_SN, r2tSn)
            .putInt(BUFFER_OFFSET, bufferOffset)
            .putInt(DESIRED_DATA_TRANSFER_LENGTH, desiredBytes);
        return this;
    }

    /** The length of the requested part, unsigned. */
    public long desiredBytes() {
        return header.getInt(DESIRED_DATA_TRANSFER_LENGTH) & 0xFFFFFFFFL;
    }
}
