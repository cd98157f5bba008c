package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** A PDU from an initiator, with its place in the order of commands: CmdSN and ExpStatSN (RFC 7143 section 11.2.1). */
public class RequestPdu extends Pdu {
    private static final int CMD_SN = 24;
    private static final int EXP_STAT_SN = 28;

    /** A view of {@code header}. */
    public RequestPdu(ByteBuffer header) {
        super(header);
    }

    /** The command's number. */
    public final int cmdSn() {
        return header.getInt(CMD_SN);
    }

    /** Up to which status number, exclusive, the initiator has everything. */
    public final int expStatSn() {
        return header.getInt(EXP_STAT_SN);
    }

    /** Sets both numbers. */
    public final void numbers(int cmdSn, int expStatSn) {
        header.putInt(CMD_SN, cmdSn).putInt(EXP_STAT_SN, expStatSn);
    }
}
