package io.modeldisk.doctor;

/**
 * The result of one check.
 *
 * @param state the result of the check
 * @param area the part of modeldisk that needs this subject
 * @param subject the thing that was checked
 * @param message the state of the subject, and advice if there is a problem
 */
public record Finding(State state, Area area, String subject, String message) {
    /** The results of a check. */
    public enum State {
        /** The check found no problem. */
        OK,
        /** The subject can be used, but not by all users or not at full speed. */
        WARNING,
        /** The subject is missing or cannot be used. */
        MISSING
    }

    /** The part of modeldisk that needs the subject of a check. */
    public enum Area {
        /** All commands of modeldisk need the subject. */
        JAVA,
        /** Mounts need the subject. */
        FUSE,
        /** The datamover tcp and shards that listen on a port need the subject. */
        TCP,
        /** The datamover shm needs the subject. */
        SHM,
        /** The datamover iser needs the subject. */
        ISER,
        /** Shards with many learners or a large model need the subject. */
        LIMITS
    }
}
