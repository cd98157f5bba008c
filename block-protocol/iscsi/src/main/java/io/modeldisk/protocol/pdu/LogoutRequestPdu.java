package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Logout Request (RFC 7143 section 11.14). */
public final class LogoutRequestPdu extends RequestPdu {
    /** Reason: close the session. */
    public static final int CLOSE_SESSION = 0;

    /** Reason: close the connection. */
    public static final int CLOSE_CONNECTION = 1;

    /** Reason: remove the connection, for its tasks to go on with on another. */
    public static final int RECOVER_CONNECTION = 2;

    private static final int CID = 20;

    /** A view of {@code header}. */
    public LogoutRequestPdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a request that closes the session. */
    public LogoutRequestPdu begin(int initiatorTaskTag) {
        clear(Opcode.LOGOUT_REQUEST, FLAG_FINAL | CLOSE_SESSION);
        setImmediate();
        initiatorTaskTag(initiatorTaskTag);
        return this;
    }

    /** The reason: to close the session or a connection, or to recover. */
    public int reason() {
        return flags() & 0x7F;
    }

    /** The connection that is to be closed. */
    public int cid() {
        return header.getShort(CID) & 0xFFFF;
    }
}
