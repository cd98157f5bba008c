package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Asynchronous Message (RFC 7143 section 11.9). */
public final class AsyncMessagePdu extends ResponsePdu {
    /** The target asks for a logout. */
    public static final int LOGOUT_REQUESTED = 1;

    /** The target drops this connection. */
    public static final int CONNECTION_DROPPED = 2;

    /** The target drops all connections of the session. */
    public static final int SESSION_DROPPED = 3;

    private static final int EVENT = 36;

    /** A view of {@code header}. */
    public AsyncMessagePdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a message. */
    public AsyncMessagePdu begin(int event) {
        clear(Opcode.ASYNC_MESSAGE, FLAG_FINAL);
        initiatorTaskTag(RESERVED_TAG);
        header.put(EVENT, (byte) event);
        return this;
    }

    /** The event. */
    public int event() {
        return header.get(EVENT) & 0xFF;
    }
}
