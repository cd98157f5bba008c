package io.modeldisk.mount.trace;

import java.util.Locale;

/** What an iteration consists of. */
public enum Phase {
    /** The learner computes, from one fsync to the next. */
    COMPUTE,
    /** The learner waits in fsync. */
    STALL,
    /** The gradient goes to the shards. */
    PUSH,
    /** Nothing moves, so that the weights are pulled as late as they can be. */
    BUBBLE,
    /** The weights come from the shards. */
    PULL;

    /** The name in a trace, as {@code bubble}. */
    public String phaseName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
