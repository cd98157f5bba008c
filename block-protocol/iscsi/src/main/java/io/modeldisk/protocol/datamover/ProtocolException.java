package io.modeldisk.protocol.datamover;

import java.io.IOException;
import java.io.Serial;

/** The peer has broken the protocol. The connection cannot go on. */
public final class ProtocolException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    /** A breach of the protocol. */
    public ProtocolException(String message) {
        super(message);
    }
}
