package io.modeldisk.striping;

/** The kinds of transfers. A kind determines the direction of the data and the kind of logical unit. */
enum Direction {
    /** Moves weights from a train unit. */
    PULL(true, false, false),
    /** Moves a gradient to a train unit, which searches the gradient for NaN and infinity. */
    PUSH(true, true, true),
    /** Moves a gradient to a train unit. The learner has checked that the gradient contains neither NaN nor infinity. */
    PUSH_FINITE(true, true, true),
    /** Informs a train unit that the learner has no gradient for a range in the current round. */
    ABSENT(true, true, true),
    /** Like ABSENT, for a gradient with NaN or infinity. The first command of a call makes the shard count the gradient. */
    ABSENT_NON_FINITE(true, true, true),
    /** Moves float32 weights from LUN 0: the weights of the round that the shards keep for this initiator (KEEP ROUND). */
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

    /** True if the transfer pushes a gradient, or marks a range of it as absent. */
    boolean pushes() {
        return pushes;
    }

    /** True if the commands mark logical blocks as absent. They carry no model data, and return the number of blocks marked. */
    boolean isAbsent() {
        return this == ABSENT || this == ABSENT_NON_FINITE;
    }

    /** The direction for further calls of the same gradient, after the first call has made the shards count the gradient. */
    Direction uncounted() {
        return this == ABSENT_NON_FINITE ? ABSENT : this;
    }
}
