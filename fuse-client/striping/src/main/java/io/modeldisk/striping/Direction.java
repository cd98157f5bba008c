package io.modeldisk.striping;

/** The kinds of transfers. Each kind has a direction and a kind of logical unit. */
enum Direction {
    /** Moves weights from a train unit. */
    PULL(true, false, false),
    /** Moves a gradient to a train unit, which searches it for NaN and infinity. */
    PUSH(true, true, true),
    /** Moves a gradient without NaN and infinity to a train unit. */
    PUSH_FINITE(true, true, true),
    /** Tells a train unit that the learner has no gradient in its round. */
    ABSENT(true, true, true),
    /** As ABSENT, because the gradient has a NaN or an infinity. The first command of a call lets the shard count it. */
    ABSENT_NON_FINITE(true, true, true),
    /** Moves weights in float32, of the round that the shards keep for this initiator, from LUN 0. */
    KEPT(false, false, false),
    /** Moves weights from the raw unit. */
    READ(false, false, false),
    /** Moves weights to the raw unit. */
    WRITE(false, true, false);

    /** The logical unit number of the raw unit. */
    static final int RAW_LUN = 1;

    private final boolean trains;
    private final boolean writes;
    private final boolean pushes;

    Direction(boolean trains, boolean writes, boolean pushes) {
        this.trains = trains;
        this.writes = writes;
        this.pushes = pushes;
    }

    boolean trains() {
        return trains;
    }

    boolean writes() {
        return writes;
    }

    /** True if the transfer belongs to the round of a gradient. */
    boolean pushes() {
        return pushes;
    }

    /** True if the commands have no data of the model, and return the number of logical blocks that they have marked. */
    boolean isAbsent() {
        return this == ABSENT || this == ABSENT_NON_FINITE;
    }

    /** The direction of the further calls for a gradient, of which the first has counted it. */
    Direction uncounted() {
        return this == ABSENT_NON_FINITE ? ABSENT : this;
    }
}
