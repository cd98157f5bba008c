package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Logout Request (RFC 7143 section 11.14). */
public final class LogoutRequestPdu extends RequestPdu {
    /** Reason: close the session. */
    public static final int CLOSE_SESSION = 0;

    /** Reason: close the connection. */
    public static final int CLOSE_CONNECTION = 1;

    /** Reason: remove the connection, so another connection can continue its tasks. */
    public static final int RECOVER_CONNECTION = 2;

    private static final int CID = 20;

    /** Creates a view of {@code header}. */
    public LogoutRequestPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Logout Request that closes the session. */
    public LogoutRequestPdu begin(int initiatorTaskTag) {
        clear(Opcode.LOGOUT_REQUEST, FLAG_FINAL | CLOSE_SESSION, initiatorTaskTag);
        setImmediate();
        return this;
    }

    /** The reason: close the session, close a connection, or recover a connection. */
    public int reason() {
        return flags() & 0x7F;
    }

    /** The number of the connection to close. */
    public int cid() {
        return header.getShort(CID) & 0xFFFF;
    }
}
