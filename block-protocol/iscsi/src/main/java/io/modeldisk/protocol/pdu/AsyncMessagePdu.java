package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Asynchronous Message (RFC 7143 section 11.9). */
public final class AsyncMessagePdu extends ResponsePdu {
    /** Event: the target closes all connections of the session. */
    public static final int SESSION_DROPPED = 3;

    private static final int EVENT = 36;

    /** Creates a view of {@code header}. */
    public AsyncMessagePdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with an Asynchronous Message with this event. */
    public AsyncMessagePdu begin(int event) {
        clear(Opcode.ASYNC_MESSAGE, FLAG_FINAL, RESERVED_TAG);
        header.put(EVENT, (byte) event);
        return this;
    }

    /** The code of the event. */
    public int event() {
        return header.get(EVENT) & 0xFF;
    }
}
