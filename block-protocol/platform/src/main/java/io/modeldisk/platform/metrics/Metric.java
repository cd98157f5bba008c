package io.modeldisk.platform.metrics;

/**
 * All metrics that a shard or a mount reports. Each metric is declared once, with its path in the status JSON, its unit and its
 * description. The reference in docs/ is generated from this enum.
 */
public enum Metric {
    // Metrics of a shard.
    /** The metric {@code version.min}. */
    VERSION_MIN(Scope.SHARD, "version", "min", Unit.UPDATES, Kind.COUNTER,
        "updates of the block with the fewest updates"),
    /** The metric {@code version.max}. */
    VERSION_MAX(Scope.SHARD, "version", "max", Unit.UPDATES, Kind.COUNTER,
        "updates of the block with the most updates"),
    /** The metric {@code version.total}. */
    VERSION_TOTAL(Scope.SHARD, "version", "total", Unit.UPDATES, Kind.COUNTER, "sum of the updates of all blocks"),
    /** The metric {@code rounds.min}. */
    ROUNDS_MIN(Scope.SHARD, "rounds", "min", Unit.ROUNDS, Kind.COUNTER,
        "closed rounds of the block with the fewest closed rounds; only with bsp"),
    /** The metric {@code rounds.max}. */
    ROUNDS_MAX(Scope.SHARD, "rounds", "max", Unit.ROUNDS, Kind.COUNTER,
        "closed rounds of the block with the most closed rounds; only with bsp"),
    /** The metric {@code learnersMissing}. */
    LEARNERS_MISSING(Scope.SHARD, "learnersMissing", Unit.LEARNERS, Kind.GAUGE,
        "learners that must still join before the first round can close; absent after enough learners have joined"),
    /** The metric {@code learnersLeftOut}. */
    LEARNERS_LEFT_OUT(Scope.SHARD, "learnersLeftOut", Unit.LEARNERS, Kind.GAUGE,
        "learners that are not listed because the status page is full; absent if all are listed"),
    /** The metric {@code waiting}. */
    WAITING(Scope.SHARD, "waiting", Unit.COMMANDS, Kind.GAUGE, "commands that wait for a round or for other learners"),
    /** The metric {@code pushes}. */
    PUSHES(Scope.SHARD, "pushes", Unit.COMMANDS, Kind.COUNTER, "PUSH and WRITE commands of LUN 0 that were accepted"),
    /** The metric {@code pulls}. */
    PULLS(Scope.SHARD, "pulls", Unit.COMMANDS, Kind.COUNTER, "PULL and READ commands of LUN 0 that were accepted"),
    /** The metric {@code pushedBytes}. */
    PUSHED_BYTES(Scope.SHARD, "pushedBytes", Unit.BYTES, Kind.COUNTER, "gradient bytes that were accepted"),
    /** The metric {@code pulledBytes}. */
    PULLED_BYTES(Scope.SHARD, "pulledBytes", Unit.BYTES, Kind.COUNTER, "weight bytes that were pulled"),
    /** The metric {@code nonFinitePushes}. */
    NON_FINITE_PUSHES(Scope.SHARD, "nonFinitePushes", Unit.COMMANDS, Kind.COUNTER,
        "pushes with a NaN or an infinity that were refused or skipped"),
    /** The metric {@code uptimeSeconds}. */
    UPTIME(Scope.SHARD, "uptimeSeconds", Unit.SECONDS, Kind.GAUGE, "time since the shard was started"),

    // Metrics of a learner of a shard.
    /** The metric {@code joinRound}. */
    LEARNER_JOIN_ROUND(Scope.LEARNER, "joinRound", Unit.ROUNDS, Kind.GAUGE,
        "first round that the learner takes part in"),
    /** The metric {@code clock.min}. */
    LEARNER_CLOCK_MIN(Scope.LEARNER, "clock", "min", Unit.ROUNDS, Kind.COUNTER,
        "rounds that the learner has pushed of the block with the fewest pushed rounds"),
    /** The metric {@code clock.max}. */
    LEARNER_CLOCK_MAX(Scope.LEARNER, "clock", "max", Unit.ROUNDS, Kind.COUNTER,
        "rounds that the learner has pushed of the block with the most pushed rounds"),
    /** The metric {@code behind.rounds}. */
    LEARNER_BEHIND_ROUNDS(Scope.LEARNER, "behind", "rounds", Unit.ROUNDS, Kind.GAUGE,
        "rounds that another learner has pushed and this learner lacks, in the worst block; absent if none"),
    /** The metric {@code behind.ms}. */
    LEARNER_BEHIND_MS(Scope.LEARNER, "behind", "ms", Unit.MILLISECONDS, Kind.GAUGE,
        "time since another learner pushed the first round that this learner lacks"),
    /** The metric {@code pushes}. */
    LEARNER_PUSHES(Scope.LEARNER, "pushes", Unit.COMMANDS, Kind.COUNTER, "pushes of the learner that were accepted"),
    /** The metric {@code pushedBytes}. */
    LEARNER_PUSHED_BYTES(Scope.LEARNER, "pushedBytes", Unit.BYTES, Kind.COUNTER,
        "gradient bytes of the learner that were accepted"),
    /** The metric {@code pulledBytes}. */
    LEARNER_PULLED_BYTES(Scope.LEARNER, "pulledBytes", Unit.BYTES, Kind.COUNTER,
        "weight bytes that the learner has pulled"),
    /** The metric {@code nonFinitePushes}. */
    LEARNER_NON_FINITE_PUSHES(Scope.LEARNER, "nonFinitePushes", Unit.COMMANDS, Kind.COUNTER,
        "pushes of the learner with a NaN or an infinity that were refused or skipped; absent if none"),

    // Metrics of a mount.
    /** The metric {@code uptimeSeconds}. */
    MOUNT_UPTIME(Scope.MOUNT, "uptimeSeconds", Unit.SECONDS, Kind.GAUGE, "time since the model was mounted"),
    /** The metric {@code iterations}. */
    ITERATIONS(Scope.MOUNT, "iterations", Unit.ITERATIONS, Kind.COUNTER,
        "fsync calls that completed an iteration, because they pushed data and succeeded"),
    /** The metric {@code pushedBytes}. */
    MOUNT_PUSHED_BYTES(Scope.MOUNT, "pushedBytes", Unit.BYTES, Kind.COUNTER,
        "gradient bytes that the shards have accepted"),
    /** The metric {@code pulledBytes}. */
    MOUNT_PULLED_BYTES(Scope.MOUNT, "pulledBytes", Unit.BYTES, Kind.COUNTER,
        "weight bytes that the shards have returned"),
    /** The metric {@code lastPushMs}. */
    LAST_PUSH_MS(Scope.MOUNT, "lastPushMs", Unit.MILLISECONDS, Kind.GAUGE, "duration of the last push"),
    /** The metric {@code lastPullMs}. */
    LAST_PULL_MS(Scope.MOUNT, "lastPullMs", Unit.MILLISECONDS, Kind.GAUGE, "duration of the last pull"),
    /** The metric {@code lastFsyncMs}. */
    LAST_FSYNC_MS(Scope.MOUNT, "lastFsyncMs", Unit.MILLISECONDS, Kind.GAUGE,
        "duration of the last fsync that succeeded"),
    /** The metric {@code pushGbPerSecond}. */
    PUSH_RATE(Scope.MOUNT, "pushGbPerSecond", Unit.GB_PER_SECOND, Kind.GAUGE,
        "mean rate of all pushes; the time between pushes is excluded"),
    /** The metric {@code pullGbPerSecond}. */
    PULL_RATE(Scope.MOUNT, "pullGbPerSecond", Unit.GB_PER_SECOND, Kind.GAUGE,
        "mean rate of all pulls; the time between pulls is excluded"),

    // Metrics of the iterations of a mount with sync or overlap.
    /** The metric {@code stallMs}. */
    STALL_MS(Scope.ITERATION, "stallMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time that the learner waited in the last fsync"),
    /** The metric {@code totalStallMs}. */
    TOTAL_STALL_MS(Scope.ITERATION, "totalStallMs", Unit.MILLISECONDS, Kind.COUNTER,
        "time that the learner waited in all fsync calls"),
    /** The metric {@code weightsAgeMs}. */
    WEIGHTS_AGE_MS(Scope.ITERATION, "weightsAgeMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time since the start of the pull that fetched the current weights"),
    /** The metric {@code meanWeightsAgeMs}. */
    MEAN_WEIGHTS_AGE_MS(Scope.ITERATION, "meanWeightsAgeMs", Unit.MILLISECONDS, Kind.GAUGE,
        "mean age of the weights at the time when the learner began to use them"),
    /** The metric {@code weightsVersion}. */
    WEIGHTS_VERSION(Scope.ITERATION, "weightsVersion", Unit.UPDATES, Kind.COUNTER,
        "minimum number of updates in any block of the current weights; -1 if not known; only with overlap"),
    /** The metric {@code bubbleMs}. */
    BUBBLE_MS(Scope.ITERATION, "bubbleMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time by which the scheduler delayed the last pull; only with overlap"),
    /** The metric {@code meanBubbleMs}. */
    MEAN_BUBBLE_MS(Scope.ITERATION, "meanBubbleMs", Unit.MILLISECONDS, Kind.GAUGE,
        "mean time by which the scheduler delayed a pull; only with overlap"),
    /** The metric {@code stalenessRounds}. */
    STALENESS_ROUNDS(Scope.ITERATION, "stalenessRounds", Unit.ROUNDS, Kind.GAUGE,
        "rounds that the weights lacked when the learner began to use them; absent if not known; only with overlap"),
    /** The metric {@code meanStalenessRounds}. */
    MEAN_STALENESS_ROUNDS(Scope.ITERATION, "meanStalenessRounds", Unit.ROUNDS, Kind.GAUGE,
        "mean of stalenessRounds over all iterations where it is known; only with overlap"),

    // Metrics of the forecast for the next iteration, from the pull scheduler of a mount.
    /** The metric {@code computationMs}. */
    EXPECTED_COMPUTATION_MS(Scope.FORECAST, "computationMs", Unit.MILLISECONDS, Kind.GAUGE,
        "expected duration of the computation"),
    /** The metric {@code pushMs}. */
    EXPECTED_PUSH_MS(Scope.FORECAST, "pushMs", Unit.MILLISECONDS, Kind.GAUGE, "expected duration of the push"),
    /** The metric {@code pullMs}. */
    EXPECTED_PULL_MS(Scope.FORECAST, "pullMs", Unit.MILLISECONDS, Kind.GAUGE, "expected duration of the pull"),
    /** The metric {@code marginMs}. */
    EXPECTED_MARGIN_MS(Scope.FORECAST, "marginMs", Unit.MILLISECONDS, Kind.GAUGE,
        "safety margin by which the pull starts earlier than the forecast requires");

    /** The JSON object of the status that contains a metric. */
    public enum Scope {
        /** A shard. The object is in VPD page C1h, and in {@code shards[]} of the status.json of a mount. */
        SHARD("shards[]"),
        /** A learner of a shard. */
        LEARNER("shards[].learners[]"),
        /** A mount. */
        MOUNT("mount"),
        /** The iterations of a mount. */
        ITERATION("mount.iteration"),
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
        /** Updates, which are applications of an aggregator to a block. */
        UPDATES("updates"),
        /** Rounds. A round has one gradient from each learner. */
        ROUNDS("rounds"),
        /** Learners. */
        LEARNERS("learners"),
        /** SCSI commands. */
        COMMANDS("commands"),
        /** Iterations of a learner. */
        ITERATIONS("iterations"),
        /** Bytes. */
        BYTES("bytes"),
        /** Milliseconds, with decimals. */
        MILLISECONDS("ms"),
        /** Seconds. */
        SECONDS("s"),
        /** 10<sup>9</sup> bytes a second. */
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
     * Returns the member of {@link #scope()} that groups this metric with others, such as {@code version}. Returns an empty text
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
