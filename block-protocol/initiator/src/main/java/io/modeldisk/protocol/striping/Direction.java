package io.modeldisk.protocol.striping;

/** The kinds of transfers. Each kind has a direction and a logical unit. */
enum Direction {
    /** Moves weights from LUN 0. */
    PULL(0, false),
    /** Moves a gradient to LUN 0. */
    PUSH(0, true),
    /** Moves weights from LUN 1. */
    READ(1, false),
    /** Moves weights to LUN 1. */
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
