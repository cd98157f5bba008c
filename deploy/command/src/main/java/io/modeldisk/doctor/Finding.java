package io.modeldisk.doctor;

/**
 * One thing that was looked at.
 *
 * @param state how it is
 * @param area what it is needed for
 * @param subject what was looked at
 * @param words how it is, and what to do if that is not well
 */
public record Finding(State state, Area area, String subject, String words) {
    /** How something is. */
    public enum State {
        /** As it should be. */
        OK,
        /** It works, but not as well as it could, or not for everybody. */
        WARNING,
        /** It does not work without. */
        MISSING
    }

    /** What something is needed for. */
    public enum Area {
        /** Everything. */
        JAVA,
        /** A mount. */
        FUSE,
        /** The datamover tcp, and to find any shard. */
        TCP,
        /** The datamover shm. */
        SHM,
        /** The datamover iser. */
        ISER,
        /** A machine with much to do. */
        LIMITS
    }
}
