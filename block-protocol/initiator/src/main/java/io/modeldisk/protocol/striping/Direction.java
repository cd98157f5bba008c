package io.modeldisk.protocol.striping;

/** The kinds of transfers. Each kind has a direction and a kind of logical unit. */
enum Direction {
    /** Moves weights from a train unit. */
    PULL(true, false),
    /** Moves a gradient to a train unit. */
    PUSH(true, true),
    /** Moves weights in float32, of the round that the shards keep for this initiator, from LUN 0. */
    KEPT(false, false),
    /** Moves weights from the raw unit. */
    READ(false, false),
    /** Moves weights to the raw unit. */
    WRITE(false, true);

    /** The logical unit number of the raw unit. */
    static final int RAW_LUN = 1;

    private final boolean trains;
    private final boolean writes;

    Direction(boolean trains, boolean writes) {
        this.trains = trains;
        this.writes = writes;
    }

    boolean trains() {
        return trains;
    }

    boolean writes() {
        return writes;
    }
}
