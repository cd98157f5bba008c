package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/** The pins of one task. A long read sends several pinned pieces at the same time. Used only by the owner of the task. */
final class Pins {
    /** The maximum number of pinned pieces of one read. More pieces would occupy memory that other commands need. */
    static final int MOST = 4;

    private final Pin[] pins = new Pin[MOST];
    private int held;

    Pins() {
        for (int i = 0; i < MOST; i++) {
            pins[i] = new Pin();
        }
    }

    boolean isFull() {
        return held == MOST;
    }

    /** Returns the next unused pin. The caller sets the pin and then calls {@link #hold}. */
    Pin free() {
        return pins[held];
    }

    /** Marks the last result of {@link #free} as used until {@link #release} is called. Returns this pin. */
    Pin hold() {
        return pins[held++];
    }

    /** True if a held pin refers to a piece that starts at {@code offset} of {@code memory}. */
    boolean holds(DataMemory memory, long offset) {
        for (int i = 0; i < held; i++) {
            if (pins[i].memory() == memory && pins[i].offset() == offset) {
                return true;
            }
        }
        return false;
    }

    /** Releases all pins. {@code unit} is null if the pins belong to no logical unit. */
    void release(LogicalUnit unit) {
        while (held > 0) {
            held--;
            if (unit != null) {
                unit.unpin(pins[held]);
            }
        }
    }
}
