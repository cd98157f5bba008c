package io.modeldisk.mount.exchange;

/**
 * Of when the weights are that a learner reads now.
 *
 * @param version how many updates each block had had at least when it was pulled, or {@link VersionProbe#UNKNOWN}
 * @param ageMs how long ago the pull began; 0 if each read pulls
 */
public record WeightsInUse(long version, double ageMs) {
    /** Each read pulls. */
    static final WeightsInUse LATEST = new WeightsInUse(VersionProbe.UNKNOWN, 0);

    /** Whether each read pulls, so that they are never older than that. */
    public boolean isLatest() {
        return this == LATEST;
    }
}
