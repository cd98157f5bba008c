package io.modeldisk.mount.exchange;

/**
 * The version and the age of the weights that a read returns now.
 *
 * @param version the lowest number of updates among all blocks at the time of the pull, or {@link VersionProbe#UNKNOWN}
 * @param ageMs the time since the pull of the weights began; 0 if each read pulls, and 0 before the first pull
 */
public record WeightsInUse(long version, double ageMs) {
    /** The value for a scheme in which each read pulls the latest weights. */
    static final WeightsInUse LATEST = new WeightsInUse(VersionProbe.UNKNOWN, 0);

    /** Returns whether each read pulls the latest weights. */
    public boolean isLatest() {
        return this == LATEST;
    }
}
