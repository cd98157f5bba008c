package io.modeldisk.platform.metrics;

/**
 * All metrics that a shard or a mount reports. Each metric is declared once, with its path in the status JSON, its unit and its
 * description. The reference in docs/ is generated from this enum.
 */
public enum Metric {
    // @formatter:off
    // Metrics of a shard.
    VERSION_MIN(Scope.SHARD, "version", "min", Unit.UPDATES, Kind.COUNTER,
        "updates of the block with the fewest updates"),
    VERSION_MAX(Scope.SHARD, "version", "max", Unit.UPDATES, Kind.COUNTER,
        "updates of the block with the most updates"),
    VERSION_TOTAL(Scope.SHARD, "version", "total", Unit.UPDATES, Kind.COUNTER, "sum of the updates of all blocks"),
    ROUNDS_MIN(Scope.SHARD, "rounds", "min", Unit.ROUNDS, Kind.COUNTER,
        "closed rounds of the block with the fewest closed rounds; only with bsp"),
    ROUNDS_MAX(Scope.SHARD, "rounds", "max", Unit.ROUNDS, Kind.COUNTER,
        "closed rounds of the block with the most closed rounds; only with bsp"),
    LEARNERS_MISSING(Scope.SHARD, "learnersMissing", Unit.LEARNERS, Kind.GAUGE,
        "learners that must still join before the first round can close; absent after enough learners have joined"),
    LEARNERS_LEFT_OUT(Scope.SHARD, "learnersLeftOut", Unit.LEARNERS, Kind.GAUGE,
        "learners that are missing in learners[], because the status page is full; absent if none is missing"),
    WAITING(Scope.SHARD, "waiting", Unit.COMMANDS, Kind.GAUGE, "commands that wait for a round or for other learners"),
    FOLLOWERS(Scope.SHARD, "followers", Unit.MOUNTS, Kind.GAUGE,
        "connected mounts that follow the model (`mount --read-only`); no round waits for them"),
    PUSHES(Scope.SHARD, "pushes", Unit.COMMANDS, Kind.COUNTER, "PUSH and WRITE commands of LUN 0 that were accepted"),
    PULLS(Scope.SHARD, "pulls", Unit.COMMANDS, Kind.COUNTER, "PULL and READ commands of LUN 0 that were accepted"),
    PUSHED_BYTES(Scope.SHARD, "pushedBytes", Unit.BYTES, Kind.COUNTER, "gradient bytes that were accepted"),
    PULLED_BYTES(Scope.SHARD, "pulledBytes", Unit.BYTES, Kind.COUNTER, "weight bytes that were pulled"),
    NON_FINITE_PUSHES(Scope.SHARD, "nonFinitePushes", Unit.COMMANDS, Kind.COUNTER,
        "pushes that were refused or skipped, because they contained a NaN or an infinity"),
    STATE_BYTES(Scope.SHARD, "stateBytes", Unit.BYTES, Kind.GAUGE,
        "memory of the state that the aggregator keeps for the weights"),
    UPTIME(Scope.SHARD, "uptimeSeconds", Unit.SECONDS, Kind.GAUGE, "time since the shard was started"),

    // Metrics of a learner of a shard.
    LEARNER_JOIN_ROUND(Scope.LEARNER, "joinRound", Unit.ROUNDS, Kind.GAUGE,
        "first round that the learner takes part in"),
    LEARNER_CLOCK_MIN(Scope.LEARNER, "clock", "min", Unit.ROUNDS, Kind.COUNTER,
        "rounds that the learner has pushed, in the block with the fewest pushed rounds"),
    LEARNER_CLOCK_MAX(Scope.LEARNER, "clock", "max", Unit.ROUNDS, Kind.COUNTER,
        "rounds that the learner has pushed, in the block with the most pushed rounds"),
    LEARNER_BEHIND_ROUNDS(Scope.LEARNER, "behind", "rounds", Unit.ROUNDS, Kind.GAUGE,
        "rounds that another learner has pushed and this learner has not, in the block with the most such rounds; "
            + "absent if none"),
    LEARNER_BEHIND_MS(Scope.LEARNER, "behind", "ms", Unit.MILLISECONDS, Kind.GAUGE,
        "time since another learner pushed the first round that this learner has not pushed"),
    LEARNER_PUSHES(Scope.LEARNER, "pushes", Unit.COMMANDS, Kind.COUNTER, "pushes of the learner that were accepted"),
    LEARNER_PUSHED_BYTES(Scope.LEARNER, "pushedBytes", Unit.BYTES, Kind.COUNTER,
        "gradient bytes of the learner that were accepted"),
    LEARNER_PULLED_BYTES(Scope.LEARNER, "pulledBytes", Unit.BYTES, Kind.COUNTER,
        "weight bytes that the learner has pulled"),
    LEARNER_NON_FINITE_PUSHES(Scope.LEARNER, "nonFinitePushes", Unit.COMMANDS, Kind.COUNTER,
        "pushes of the learner that were refused or skipped, because they contained a NaN or an infinity; "
            + "absent if none"),

    // Metrics of a mount.
    MOUNT_UPTIME(Scope.MOUNT, "uptimeSeconds", Unit.SECONDS, Kind.GAUGE, "time since the model was mounted"),
    ITERATIONS(Scope.MOUNT, "iterations", Unit.ITERATIONS, Kind.COUNTER,
        "fsync calls that pushed data and succeeded; each of them completes an iteration"),
    MOUNT_PUSHED_BYTES(Scope.MOUNT, "pushedBytes", Unit.BYTES, Kind.COUNTER,
        "gradient bytes that the shards have accepted"),
    MOUNT_PULLED_BYTES(Scope.MOUNT, "pulledBytes", Unit.BYTES, Kind.COUNTER,
        "weight bytes that the shards have returned"),
    LAST_PUSH_MS(Scope.MOUNT, "lastPushMs", Unit.MILLISECONDS, Kind.GAUGE, "duration of the last push"),
    LAST_PULL_MS(Scope.MOUNT, "lastPullMs", Unit.MILLISECONDS, Kind.GAUGE, "duration of the last pull"),
    LAST_FSYNC_MS(Scope.MOUNT, "lastFsyncMs", Unit.MILLISECONDS, Kind.GAUGE,
        "duration of the last fsync that succeeded"),
    PUSH_RATE(Scope.MOUNT, "pushGbPerSecond", Unit.GB_PER_SECOND, Kind.GAUGE,
        "mean rate of all pushes; the time between pushes is excluded"),
    PULL_RATE(Scope.MOUNT, "pullGbPerSecond", Unit.GB_PER_SECOND, Kind.GAUGE,
        "mean rate of all pulls; the time between pulls is excluded"),
    ROLLBACKS(Scope.MOUNT, "rollbacks", Unit.EVENTS, Kind.COUNTER,
        "times that shards went back to earlier weights while the learner used them"),
    ROUNDS_TAKEN_BACK(Scope.MOUNT, "roundsTakenBack", Unit.ROUNDS, Kind.COUNTER,
        "rounds of the learner that were lost when shards went back"),

    // Metrics of the iterations of a mount. These metrics exist with exchange=sync and exchange=overlap.
    STALL_MS(Scope.ITERATION, "stallMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time that the learner waited in the last fsync"),
    TOTAL_STALL_MS(Scope.ITERATION, "totalStallMs", Unit.MILLISECONDS, Kind.COUNTER,
        "time that the learner waited in all fsync calls"),
    WEIGHTS_AGE_MS(Scope.ITERATION, "weightsAgeMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time since the start of the pull that fetched the current weights"),
    MEAN_WEIGHTS_AGE_MS(Scope.ITERATION, "meanWeightsAgeMs", Unit.MILLISECONDS, Kind.GAUGE,
        "mean age of the weights at the time when the learner began to use them"),
    WEIGHTS_VERSION(Scope.ITERATION, "weightsVersion", Unit.UPDATES, Kind.COUNTER,
        "updates of the block with the fewest updates in the current weights; -1 if not known; only with overlap"),
    BUBBLE_MS(Scope.ITERATION, "bubbleMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time by which the pull scheduler delayed the last pull; only with overlap"),
    MEAN_BUBBLE_MS(Scope.ITERATION, "meanBubbleMs", Unit.MILLISECONDS, Kind.GAUGE,
        "mean time by which the pull scheduler delayed a pull; only with overlap"),
    STALENESS_ROUNDS(Scope.ITERATION, "stalenessRounds", Unit.ROUNDS, Kind.GAUGE,
        "rounds that the weights lacked when the learner began to use them; absent if not known; only with overlap"),
    MEAN_STALENESS_ROUNDS(Scope.ITERATION, "meanStalenessRounds", Unit.ROUNDS, Kind.GAUGE,
        "mean of stalenessRounds over all iterations where it is known; only with overlap"),

    // Metrics of the forecast for the next iteration, from the pull scheduler of a mount.
    EXPECTED_COMPUTATION_MS(Scope.FORECAST, "computationMs", Unit.MILLISECONDS, Kind.GAUGE,
        "expected duration of the computation"),
    EXPECTED_PUSH_MS(Scope.FORECAST, "pushMs", Unit.MILLISECONDS, Kind.GAUGE, "expected duration of the push"),
    EXPECTED_PULL_MS(Scope.FORECAST, "pullMs", Unit.MILLISECONDS, Kind.GAUGE, "expected duration of the pull"),
    EXPECTED_MARGIN_MS(Scope.FORECAST, "marginMs", Unit.MILLISECONDS, Kind.GAUGE,
        "safety margin by which the pull starts earlier than the forecast requires");
    // @formatter:on

    /** The JSON object that contains a metric. */
    public enum Scope {
        /** A shard. The object is in VPD page C1h, and in {@code shards[]} of the status.json of a mount. */
        SHARD("shards[]"), LEARNER("shards[].learners[]"), MOUNT("mount"), ITERATION("mount.iteration"),
        /** The forecast of the pull scheduler of a mount. */
        FORECAST("mount.expected");

        private final String path;

        Scope(String path) {
            this.path = path;
        }

        /** Returns the path of the object in the status.json of a mount. */
        public String path() {
            return path;
        }
    }

    /** The unit of a metric. */
    public enum Unit {
        /** Updates. An update is one application of the aggregator to one block. */
        UPDATES("updates"),
        /** Rounds. A round has one gradient from each learner. */
        ROUNDS("rounds"), LEARNERS("learners"), MOUNTS("mounts"), COMMANDS("commands"),
        /** Iterations of a learner. */
        ITERATIONS("iterations"), BYTES("bytes"),
        /** Milliseconds, with decimals. */
        MILLISECONDS("ms"), SECONDS("s"), EVENTS("events"),
        /** 10<sup>9</sup> bytes per second. */
        GB_PER_SECOND("GB/s");

        private final String symbol;

        Unit(String symbol) {
            this.symbol = symbol;
        }

        /** Returns the symbol of the unit, such as {@code GB/s}. */
        public String symbol() {
            return symbol;
        }
    }

    /** The way in which a metric changes. */
    public enum Kind {
        /** A counter starts at 0 and only grows. */
        COUNTER,
        /** A gauge may rise and fall. */
        GAUGE
    }

    private final Scope scope;
    private final String group;
    private final String key;
    private final Unit unit;
    private final Kind kind;
    private final String description;

    Metric(Scope scope, String key, Unit unit, Kind kind, String description) {
        this(scope, "", key, unit, kind, description);
    }

    Metric(Scope scope, String group, String key, Unit unit, Kind kind, String description) {
        this.scope = scope;
        this.group = group;
        this.key = key;
        this.unit = unit;
        this.kind = kind;
        this.description = description;
    }

    /** Returns the JSON object that contains the metric. */
    public Scope scope() {
        return scope;
    }

    /**
     * Returns the name of the JSON member that groups this metric with others, such as {@code version}. Returns an empty string
     * if the metric has no group.
     */
    public String group() {
        return group;
    }

    /** Returns the name of the metric in the JSON object, without the group. */
    public String key() {
        return key;
    }

    /** Returns the unit of the metric. */
    public Unit unit() {
        return unit;
    }

    /** Returns the way in which the metric changes. */
    public Kind kind() {
        return kind;
    }

    /** Returns the description of the metric, which is a noun phrase. */
    public String description() {
        return description;
    }

    /** Returns the path of the metric in the status.json of a mount, such as {@code shards[].version.min}. */
    public String path() {
        return scope.path() + "." + (group.isEmpty() ? "" : group + ".") + key;
    }
}
