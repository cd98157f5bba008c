package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Response (RFC 7143 section 11.4). */
public final class ScsiResponsePdu extends ResponsePdu {
    /** The flag of a residual overflow: the command has more data than the initiator expected. */
    public static final int FLAG_OVERFLOW = 0x04;

    /** The flag of a residual underflow: the command transferred less data than the initiator expected. */
    public static final int FLAG_UNDERFLOW = 0x02;

    private static final int RESPONSE = 2;
    private static final int STATUS = 3;
    private static final int EXP_DATA_SN = 36;
    private static final int RESIDUAL = 44;

    /** Creates a view of {@code header}. */
    public ScsiResponsePdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a SCSI Response and the SCSI status of a command that completed at the target. */
    public ScsiResponsePdu begin(int initiatorTaskTag, int status, int dataInCount) {
        clear(Opcode.SCSI_RESPONSE, FLAG_FINAL, initiatorTaskTag);
        header.put(STATUS, (byte) status).putInt(EXP_DATA_SN, dataInCount);
        return this;
    }

    /** Sets the residual in bytes: positive for overflow, negative for underflow, 0 if there is no residual. */
    public ScsiResponsePdu residual(long residual) {
        setResidual(header, residual);
        return this;
    }

    static void setResidual(ByteBuffer header, long residual) {
        if (residual != 0) {
            int flag = residual > 0 ? FLAG_OVERFLOW : FLAG_UNDERFLOW;
            header.put(1, (byte) (header.get(1) | flag)).putInt(RESIDUAL, (int) Math.abs(residual));
        }
    }

    /** The iSCSI service response; 0 means that the command completed at the target. */
    public int response() {
        return header.get(RESPONSE) & 0xFF;
    }

    /** The SCSI status. */
    public int status() {
        return header.get(STATUS) & 0xFF;
    }
}
