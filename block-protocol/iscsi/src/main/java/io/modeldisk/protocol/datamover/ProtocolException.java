package io.modeldisk.protocol.datamover;

import java.io.IOException;
import java.io.Serial;

/** Reports that the peer has violated the protocol. The connection must be closed. */
public final class ProtocolException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    /** Creates an exception whose message describes the violation. */
    public ProtocolException(String message) {
        super(message);
    }
}
