package io.modeldisk.mount.trace;

/** The phases of an iteration. */
public enum Phase {
    /** The computation of the learner, from one fsync to the next. */
    COMPUTE,
    /** The wait of the learner in fsync. */
    STALL,
    /** The push of the gradient. */
    PUSH,
    /** The delay of the pull by the scheduler, so the weights are fresh when the learner uses them. */
    BUBBLE,
    /** The pull of the weights. */
    PULL;
}
