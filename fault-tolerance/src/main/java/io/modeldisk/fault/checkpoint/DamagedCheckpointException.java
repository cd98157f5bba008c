package io.modeldisk.fault.checkpoint;

import java.io.IOException;

/** A checkpoint that cannot be used, because a file is missing, too short or changed. The message names the file. */
final class DamagedCheckpointException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedCheckpointException(String message) {
        super(message);
    }
}
