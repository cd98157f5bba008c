package io.modeldisk.protocol.striping;

/** What a call moves, in which direction, and on which logical unit. */
enum Direction {
    /** Weights from LUN 0. */
    PULL(0, false),
    /** A gradient to LUN 0. */
    PUSH(0, true),
    /** Weights from LUN 1. */
    READ(1, false),
    /** Weights to LUN 1. */
    WRITE(1, true);

    private final int lun;
    private final boolean writes;

    Direction(int lun, boolean writes) {
        this.lun = lun;
        this.writes = writes;
    }

    int lun() {
        return lun;
    }

    boolean writes() {
        return writes;
    }
}
