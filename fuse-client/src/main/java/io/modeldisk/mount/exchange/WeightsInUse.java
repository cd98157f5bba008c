package io.modeldisk.mount.exchange;

/**
 * Version and age of the weights that are read now.
 *
 * @param version the updates that every block had had at least when it was pulled, or {@link VersionProbe#UNKNOWN}
 * @param ageMs the time since their pull began; 0 if each read pulls, and before the first pull
 */
public record WeightsInUse(long version, double ageMs) {
    /** Each read pulls the latest weights. */
    static final WeightsInUse LATEST = new WeightsInUse(VersionProbe.UNKNOWN, 0);

    /** Whether each read pulls the latest weights. */
    public boolean isLatest() {
        return this == LATEST;
    }
}
