package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Logout Response (RFC 7143 section 11.15). */
public final class LogoutResponsePdu extends ResponsePdu {
    /** The connection or the session was closed. */
    public static final int SUCCESS = 0;

    /** The connection does not exist. */
    public static final int CID_NOT_FOUND = 1;

    /** Connection recovery is not supported. */
    public static final int RECOVERY_NOT_SUPPORTED = 2;

    private static final int RESPONSE = 2;

    /** Creates a view of {@code header}. */
    public LogoutResponsePdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Logout Response. */
    public LogoutResponsePdu begin(int initiatorTaskTag, int response) {
        clear(Opcode.LOGOUT_RESPONSE, FLAG_FINAL, initiatorTaskTag);
        header.put(RESPONSE, (byte) response);
        return this;
    }
}
