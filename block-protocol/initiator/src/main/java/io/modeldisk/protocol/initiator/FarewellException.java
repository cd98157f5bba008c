package io.modeldisk.protocol.initiator;

import java.io.IOException;

/** The target has told that it closes the session, because its process stops in an orderly way (RFC 7143 section 11.9). */
final class FarewellException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int expCmdSn;

    FarewellException(int expCmdSn) {
        super("the process that serves the shard stops");
        this.expCmdSn = expCmdSn;
    }

    /** The number of the first command that the target has not taken. */
    int expCmdSn() {
        return expCmdSn;
    }
}
