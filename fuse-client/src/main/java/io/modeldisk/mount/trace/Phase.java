package io.modeldisk.mount.trace;

/** The phases of an iteration. */
public enum Phase {
    /** The computation of the learner, from the end of one fsync to the call of the next. */
    COMPUTE,
    /** The time for which fsync blocks the learner. */
    STALL,
    /** The push of the gradient. */
    PUSH,
    /** The time by which the scheduler delays the pull, because a later pull returns fresher weights. */
    BUBBLE,
    /** The pull of the weights. */
    PULL;
}
