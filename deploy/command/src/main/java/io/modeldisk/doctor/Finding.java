package io.modeldisk.doctor;

/**
 * The result of one check.
 *
 * @param state the result
 * @param area what needs it
 * @param subject what was checked
 * @param message its state, and what to do if something is wrong
 */
public record Finding(State state, Area area, String subject, String message) {
    /** The result of a check. */
    public enum State {
        /** Nothing is wrong. */
        OK,
        /** It works, but slower than possible, or not for all users. */
        WARNING,
        /** Something that is needed is missing. */
        MISSING
    }

    /** What needs the thing that was checked. */
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
        /** A shard with many learners or a large model. */
        LIMITS
    }
}
