package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/** The pins of one task: the pieces of a long read that are under way at the same time. Owned by its task. */
final class Pins {
    /** The most pieces of one read under way at a time. More would hold memory that other commands need. */
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

    /** The next free pin, for a unit to set; {@link #hold} keeps it. */
    Pin free() {
        return pins[held];
    }

    /** Keeps the pin that {@link #free} has returned. */
    Pin hold() {
        return pins[held++];
    }

    /** Whether a pin starts at this offset of this memory. */
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

    /** Releases all pins; {@code unit} is null if they belong to no unit. */
    void release(LogicalUnit unit) {
        while (held > 0) {
            held--;
            if (unit != null) {
                unit.unpin(pins[held]);
            }
        }
    }
}
