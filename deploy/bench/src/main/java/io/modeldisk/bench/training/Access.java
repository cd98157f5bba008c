package io.modeldisk.bench.training;

import java.util.Locale;

/** The ways in which emulated learners access the model. */
public enum Access {
    /** A learner has its own memory, and reads and writes the file of a mount. */
    MOUNT,
    /** A learner computes in the buffers of a mount, which it maps. */
    MAPPED;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
