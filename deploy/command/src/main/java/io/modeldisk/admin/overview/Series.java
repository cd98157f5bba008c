package io.modeldisk.admin.overview;

/** A value of the model or of the mount that {@link History} keeps. Each has a chart on the page. */
public enum Series {
    /** Gradient bytes per second that the shards have accepted. */
    PUSHED("pushed"),
    /** Weight bytes per second that the shards have sent. */
    PULLED("pulled"),
    /** Updates per second of the block with the fewest updates; under bsp, rounds. */
    UPDATES("updates"),
    /** Commands that wait for a round or for other learners. */
    WAITING("waiting"),
    /** The time by which the slowest learner is behind. */
    BEHIND("behind"),
    /** The time that the learner of the mount waited in its last fsync. */
    STALL("stall"),
    /** The time by which the pull scheduler of the mount delayed the last pull. */
    BUBBLE("bubble"),
    /** The rounds that the weights lacked when the learner of the mount began to use them. */
    STALENESS("staleness");

    private final String key;

    Series(String key) {
        this.key = key;
    }

    /** Returns the name in the JSON. */
    public String key() {
        return key;
    }
}
