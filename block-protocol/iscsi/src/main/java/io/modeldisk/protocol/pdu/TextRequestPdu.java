package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Text Request (RFC 7143 section 11.10). */
public final class TextRequestPdu extends RequestPdu {

    /** Creates a view of {@code header}. */
    public TextRequestPdu(ByteBuffer header) {
        super(header);
    }
}
