package io.modeldisk.admin.overview;

/** A value of the model or of the mount that {@link History} keeps. Each has a chart on the page. */
public enum Series {
    /** Gradient bytes per second that the shards have accepted. */
    PUSHED("pushed", "B/s"),
    /** Weight bytes per second that the shards have sent. */
    PULLED("pulled", "B/s"),
    /** Updates per second of the block with the fewest updates; under bsp, rounds. */
    UPDATES("updates", "1/s"),
    /** Commands that wait for a round or for other learners. */
    WAITING("waiting", "commands"),
    /** The time by which the slowest learner is behind. */
    BEHIND("behind", "ms"),
    /** The time that the learner of the mount waited in its last fsync. */
    STALL("stall", "ms"),
    /** The time by which the pull scheduler of the mount delayed the last pull. */
    BUBBLE("bubble", "ms"),
    /** The rounds that the weights lacked when the learner of the mount began to use them. */
    STALENESS("staleness", "rounds");

    private final String key;
    private final String unit;

    Series(String key, String unit) {
        this.key = key;
        this.unit = unit;
    }

    /** Returns the name in the JSON. */
    public String key() {
        return key;
    }

    /** Returns the symbol of the unit. */
    public String unit() {
        return unit;
    }
}
