package io.modeldisk.mount.trace;

/** The phases of an iteration. */
public enum Phase {
    /** The computation of the learner, from one fsync to the next. */
    COMPUTE,
    /** The wait of the learner in fsync. */
    STALL,
    /** The push of the gradient. */
    PUSH,
    /** The time by which the scheduler delays the pull. A later pull brings fresher weights. */
    BUBBLE,
    /** The pull of the weights. */
    PULL;
}
