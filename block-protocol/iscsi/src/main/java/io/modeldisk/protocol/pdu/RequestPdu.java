package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** A PDU from an initiator, with the sequence numbers CmdSN and ExpStatSN (RFC 7143 section 11.2.1). */
public class RequestPdu extends Pdu {
    private static final int CMD_SN = 24;
    private static final int EXP_STAT_SN = 28;

    /** Creates a view of {@code header}. */
    public RequestPdu(ByteBuffer header) {
        super(header);
    }

    /** The command number (CmdSN). */
    public final int cmdSn() {
        return header.getInt(CMD_SN);
    }

    /** The status number that the initiator expects next. The initiator has received all earlier status numbers. */
    public final int expStatSn() {
        return header.getInt(EXP_STAT_SN);
    }

    /** Sets the command number and the expected status number. */
    public final void numbers(int cmdSn, int expStatSn) {
        header.putInt(CMD_SN, cmdSn).putInt(EXP_STAT_SN, expStatSn);
    }
}
