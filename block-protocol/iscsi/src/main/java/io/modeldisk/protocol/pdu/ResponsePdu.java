package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** A PDU from a target, with StatSN and the command window from ExpCmdSN to MaxCmdSN (RFC 7143 section 11.4). */
public class ResponsePdu extends Pdu {
    private static final int STAT_SN = 24;
    private static final int EXP_CMD_SN = 28;
    private static final int MAX_CMD_SN = 32;

    /** Creates a view of {@code header}. */
    public ResponsePdu(ByteBuffer header) {
        super(header);
    }

    /** The status number (StatSN). */
    public final int statSn() {
        return header.getInt(STAT_SN);
    }

    /** The command number that the target expects next. */
    public final int expCmdSn() {
        return header.getInt(EXP_CMD_SN);
    }

    /** The highest command number that the target accepts. */
    public final int maxCmdSn() {
        return header.getInt(MAX_CMD_SN);
    }

    /** Sets the status number and the command window. */
    public final void numbers(int statSn, int expCmdSn, int maxCmdSn) {
        header.putInt(STAT_SN, statSn).putInt(EXP_CMD_SN, expCmdSn).putInt(MAX_CMD_SN, maxCmdSn);
    }
}
