package io.modeldisk.protocol.scsi;

import java.io.Serial;

/** Ends a task with CHECK CONDITION and this sense. */
public final class ScsiException extends Exception {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient Sense sense;

    /** A failure with a message for the log. */
    public ScsiException(Sense sense, String message) {
        super(message + " (" + sense + ")");
        this.sense = sense;
    }

    /** The sense data for the initiator. */
    public Sense sense() {
        return sense;
    }
}
