package io.modeldisk.run;

import java.io.IOException;

/** A run that ends because of a failure. */
final class RunFailedException extends IOException {
    private static final long serialVersionUID = 1;

    private final int exitStatus;

    RunFailedException(int exitStatus, String message) {
        super(message);
        this.exitStatus = exitStatus;
    }

    /** Returns the exit status of the run. */
    int exitStatus() {
        return exitStatus;
    }
}
