package io.modeldisk.protocol.scsi;

import java.io.Serial;

/** Thrown to complete a task with status CHECK CONDITION and sense data. */
public final class ScsiException extends Exception {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient Sense sense;

    /** Creates an exception with sense data and a message for the log. */
    public ScsiException(Sense sense, String message) {
        super(message + " (" + sense + ")");
        this.sense = sense;
    }

    /** The sense data for the initiator. */
    public Sense sense() {
        return sense;
    }
}
