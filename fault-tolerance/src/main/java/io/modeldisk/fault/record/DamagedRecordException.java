package io.modeldisk.fault.record;

import java.io.IOException;

/** Thrown if a record is incomplete, has a wrong checksum, or is not the next record. The message contains the reason. */
public final class DamagedRecordException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception. */
    public DamagedRecordException(String message) {
        super(message);
    }
}
