package io.modeldisk.protocol.initiator;

import java.io.IOException;

/** Reports that the target has announced the end of the session, because its process is shutting down (RFC 7143 section 11.9). */
final class FarewellException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int expCmdSn;

    FarewellException(int expCmdSn) {
        super("the process that serves the shard is shutting down");
        this.expCmdSn = expCmdSn;
    }

    /** The CmdSN of the first command that the target has not accepted. */
    int expCmdSn() {
        return expCmdSn;
    }
}
