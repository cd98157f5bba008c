package io.modeldisk.mount.exchange;

/** Decides when the pull of an exchange begins, and records the measurements of an exchange scheme. Thread-safe. */
interface Pacing {
    /** A delay without a limit. {@link #pullDelayNs} is called again when the push makes progress or the learner waits. */
    long NEVER = Long.MAX_VALUE;

    /** Starts the pull when the shards have aggregated the whole gradient. Records no measurements. */
    Pacing AFTER_AGGREGATION = (push, _) -> push == ExchangeProgress.Push.ENDED ? 0 : NEVER;

    /**
     * Returns the time in nanoseconds until the pull should begin. If the time is 0 or negative, the pull begins now.
     *
     * @param push the state of the push
     * @param learnerWaits whether the learner waits in fsync until the exchange has ended
     */
    long pullDelayNs(ExchangeProgress.Push push, boolean learnerWaits);

    /** Returns whether a pull may begin before the push has ended. If so, the push is divided into smaller pieces. */
    default boolean mayPullBesidePush() {
        return false;
    }

    /** Records that the learner has begun to use weights of this version. May send a request to the shards. */
    default void weightsInUse(long version) {}

    /**
     * Returns a lower bound of the version of the weights that the next pull returns. May send a request to the shards.
     *
     * @param pushed whether the shards have received the whole gradient
     */
    default long versionBeforePull(boolean pushed) {
        return VersionProbe.UNKNOWN;
    }

    /**
     * Records that the pull of an iteration begins.
     *
     * @param pushEndedNs the time when the shards had received the whole gradient; {@code nowNs} if the push is in progress
     */
    default void pullBegins(long iteration, long pushEndedNs, long nowNs) {}

    /** Records the duration of a push. */
    default void pushed(long durationNs) {}

    /** Records the duration of a pull, without the time that the pull waited for the push. */
    default void pulled(long durationNs) {}
}
