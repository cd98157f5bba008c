package io.modeldisk.doctor;

/**
 * The result of one check.
 *
 * @param state the result of the check
 * @param area the part of modeldisk that needs the checked thing
 * @param subject the name of the checked thing
 * @param message the state of the checked thing, and advice if there is a problem
 */
public record Finding(State state, Area area, String subject, String message) {
    /** The results of a check. */
    public enum State {
        /** The check found no problem. */
        OK,
        /** The checked thing can be used, but not by all users or not at full speed. */
        WARNING,
        /** The checked thing is missing or cannot be used. */
        MISSING
    }

    /** The part of modeldisk that needs the checked thing. */
    public enum Area {
        /** A requirement of all commands of modeldisk. */
        JAVA,
        /** A requirement of mounts. */
        FUSE,
        /** A requirement of mounts and shards that use the datamover tcp. */
        TCP,
        /** A requirement of mounts and shards that use the datamover shm. */
        SHM,
        /** A requirement of mounts and shards that use the datamover iser. */
        ISER,
        /** A login to the shards with a secret. */
        LOGIN,
        /** A requirement of shards that aggregate on a GPU. */
        CUDA,
        /** A requirement of shards with many learners or a large model. */
        LIMITS
    }
}
