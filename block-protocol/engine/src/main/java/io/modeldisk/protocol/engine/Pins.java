package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;

/** The pins that a task holds at one time: the pieces of a long read that are under way together. Owned by its task. */
final class Pins {
    /** How many pieces of one read are under way together; units keep memory for as many pins as there are commands, not more. */
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

    /** The next that is free, for a unit to fill in; held from {@link #hold} on. */
    Pin free() {
        return pins[held];
    }

    /** Holds what {@link #free} has answered. */
    Pin hold() {
        return pins[held++];
    }

    /** Whether one of them is at the start of this memory. */
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

    /** Lets go of all; {@code unit} is null if they are none of a unit's. */
    void release(LogicalUnit unit) {
        while (held > 0) {
            held--;
            if (unit != null) {
                unit.unpin(pins[held]);
            }
        }
    }
}
