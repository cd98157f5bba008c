package io.modeldisk.mount.trace;

import java.util.Locale;

/** The phases of an iteration. */
public enum Phase {
    /** The learner computes, from one fsync to the next. */
    COMPUTE,
    /** The learner waits in fsync. */
    STALL,
    /** The gradient is pushed. */
    PUSH,
    /** The pull is delayed, so that the weights are fresh when they are used. */
    BUBBLE,
    /** The weights are pulled. */
    PULL;

    /** The name in a trace, such as {@code bubble}. */
    public String phaseName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
