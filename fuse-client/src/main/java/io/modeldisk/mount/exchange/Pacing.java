package io.modeldisk.mount.exchange;

/** Decides when the pull of an exchange begins, and takes the measurements of an exchange scheme. Thread-safe. */
interface Pacing {
    /** A delay that only the end of the push, a waiting learner or a failure ends. */
    long NEVER = Long.MAX_VALUE;

    /** The pull begins when everything that was pushed has been aggregated. Takes no measurements. */
    Pacing AFTER_AGGREGATION = (push, _) -> push == ExchangeProgress.Push.ENDED ? 0 : NEVER;

    /**
     * How long the pull should wait from now on, in nanoseconds; 0 or less: it begins now.
     *
     * @param push the state of the push
     * @param learnerWaits whether the learner waits in fsync for the end of the exchange
     */
    long pullDelayNs(ExchangeProgress.Push push, boolean learnerWaits);

    /** Whether a pull may begin before the push has ended; the push is then cut into smaller pieces. */
    default boolean mayPullBesidePush() {
        return false;
    }

    /** The learner has begun to use weights of this version. May ask the shards. */
    default void weightsInUse(long version) {}

    /**
     * The version that the weights of the next pull have at least. May ask the shards.
     *
     * @param pushed whether the shards have the whole gradient
     */
    default long versionBeforePull(boolean pushed) {
        return VersionProbe.UNKNOWN;
    }

    /**
     * The pull of an iteration begins.
     *
     * @param pushEndedNs when the shards had the whole gradient; {@code nowNs} if they do not have it yet
     */
    default void pullBegins(long iteration, long pushEndedNs, long nowNs) {}

    /** A push took this long. */
    default void pushed(long durationNs) {}

    /** A pull took this long, without the time that it waited for the push. */
    default void pulled(long durationNs) {}
}
