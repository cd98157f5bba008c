package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/** The pins of one task: the pieces of a long read that are sent at the same time. Only the owner of the task uses them. */
final class Pins {
    /** The maximum number of pieces of one read in progress. More pieces would occupy memory that other commands need. */
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

    /** Returns the next unused pin, which a logical unit then sets. {@link #hold} keeps the pin. */
    Pin free() {
        return pins[held];
    }

    /** Keeps the pin that {@link #free} returned until {@link #release}. Returns the pin. */
    Pin hold() {
        return pins[held++];
    }

    /** Whether a held pin starts at {@code offset} of {@code memory}. */
    boolean holds(DataMemory memory, long offset) {
        for (int i = 0; i < held; i++) {
            if (pins[i].memory() == memory && pins[i].offset() == offset) {
                return true;
            }
        }
        return false;
    }

    boolean isEmpty() {
        return held == 0;
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
