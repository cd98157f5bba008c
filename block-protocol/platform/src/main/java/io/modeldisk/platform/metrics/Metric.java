package io.modeldisk.platform.metrics;

/**
 * Every number that a shard or a mount reports, declared once: its place in the status JSON, its unit, and its description. The
 * reference in docs/ is generated from these.
 */
public enum Metric {
    // A shard.
    /** {@code version.min}. */
    VERSION_MIN(Scope.SHARD, "version", "min", Unit.UPDATES, Kind.COUNTER, "updates of the block that has fewest"),
    /** {@code version.max}. */
    VERSION_MAX(Scope.SHARD, "version", "max", Unit.UPDATES, Kind.COUNTER, "updates of the block that has most"),
    /** {@code version.total}. */
    VERSION_TOTAL(Scope.SHARD, "version", "total", Unit.UPDATES, Kind.COUNTER, "updates of all blocks together"),
    /** {@code rounds.min}. */
    ROUNDS_MIN(Scope.SHARD, "rounds", "min", Unit.ROUNDS, Kind.COUNTER,
        "closed rounds of the block that has fewest; bsp"),
    /** {@code rounds.max}. */
    ROUNDS_MAX(Scope.SHARD, "rounds", "max", Unit.ROUNDS, Kind.COUNTER,
        "closed rounds of the block that has most; bsp"),
    /** {@code learnersMissing}. */
    LEARNERS_MISSING(Scope.SHARD, "learnersMissing", Unit.LEARNERS, Kind.GAUGE,
        "learners that must join before the first round can close; absent once the job has formed"),
    /** {@code learnersLeftOut}. */
    LEARNERS_LEFT_OUT(Scope.SHARD, "learnersLeftOut", Unit.LEARNERS, Kind.GAUGE,
        "learners that do not fit on the status page; absent if all fit"),
    /** {@code waiting}. */
    WAITING(Scope.SHARD, "waiting", Unit.COMMANDS, Kind.GAUGE, "commands that wait for a round or for other learners"),
    /** {@code pushes}. */
    PUSHES(Scope.SHARD, "pushes", Unit.COMMANDS, Kind.COUNTER, "PUSH and WRITE commands of LUN 0 that were taken"),
    /** {@code pulls}. */
    PULLS(Scope.SHARD, "pulls", Unit.COMMANDS, Kind.COUNTER, "PULL and READ commands of LUN 0 that were admitted"),
    /** {@code pushedBytes}. */
    PUSHED_BYTES(Scope.SHARD, "pushedBytes", Unit.BYTES, Kind.COUNTER, "gradient that was taken"),
    /** {@code pulledBytes}. */
    PULLED_BYTES(Scope.SHARD, "pulledBytes", Unit.BYTES, Kind.COUNTER, "weights that were pulled"),
    /** {@code nonFinitePushes}. */
    NON_FINITE_PUSHES(Scope.SHARD, "nonFinitePushes", Unit.COMMANDS, Kind.COUNTER,
        "pushes with a NaN or an infinity that were refused or skipped"),
    /** {@code uptimeSeconds}. */
    UPTIME(Scope.SHARD, "uptimeSeconds", Unit.SECONDS, Kind.GAUGE, "time since the shard was started"),

    // A learner of a shard.
    /** {@code joinRound}. */
    LEARNER_JOIN_ROUND(Scope.LEARNER, "joinRound", Unit.ROUNDS, Kind.GAUGE,
        "first round that the learner takes part in"),
    /** {@code clock.min}. */
    LEARNER_CLOCK_MIN(Scope.LEARNER, "clock", "min", Unit.ROUNDS, Kind.COUNTER,
        "rounds that the learner has pushed of the block where it has pushed fewest"),
    /** {@code clock.max}. */
    LEARNER_CLOCK_MAX(Scope.LEARNER, "clock", "max", Unit.ROUNDS, Kind.COUNTER,
        "rounds that the learner has pushed of the block where it has pushed most"),
    /** {@code behind.rounds}. */
    LEARNER_BEHIND_ROUNDS(Scope.LEARNER, "behind", "rounds", Unit.ROUNDS, Kind.GAUGE,
        "rounds that another learner has pushed and this one has not, in the block where it lacks most; absent if none"),
    /** {@code behind.ms}. */
    LEARNER_BEHIND_MS(Scope.LEARNER, "behind", "ms", Unit.MILLISECONDS, Kind.GAUGE,
        "time since another learner first pushed the first round that this one lacks"),
    /** {@code pushes}. */
    LEARNER_PUSHES(Scope.LEARNER, "pushes", Unit.COMMANDS, Kind.COUNTER, "pushes of the learner that were taken"),
    /** {@code pushedBytes}. */
    LEARNER_PUSHED_BYTES(Scope.LEARNER, "pushedBytes", Unit.BYTES, Kind.COUNTER,
        "gradient of the learner that was taken"),
    /** {@code pulledBytes}. */
    LEARNER_PULLED_BYTES(Scope.LEARNER, "pulledBytes", Unit.BYTES, Kind.COUNTER, "weights that the learner has pulled"),
    /** {@code nonFinitePushes}. */
    LEARNER_NON_FINITE_PUSHES(Scope.LEARNER, "nonFinitePushes", Unit.COMMANDS, Kind.COUNTER,
        "pushes of the learner with a NaN or an infinity that were refused or skipped; absent if none"),

    // A mount.
    /** {@code uptimeSeconds}. */
    MOUNT_UPTIME(Scope.MOUNT, "uptimeSeconds", Unit.SECONDS, Kind.GAUGE, "time since the model was mounted"),
    /** {@code iterations}. */
    ITERATIONS(Scope.MOUNT, "iterations", Unit.ITERATIONS, Kind.COUNTER,
        "fsync calls that ended an iteration: that pushed something and succeeded"),
    /** {@code pushedBytes}. */
    MOUNT_PUSHED_BYTES(Scope.MOUNT, "pushedBytes", Unit.BYTES, Kind.COUNTER, "gradient that the shards have taken"),
    /** {@code pulledBytes}. */
    MOUNT_PULLED_BYTES(Scope.MOUNT, "pulledBytes", Unit.BYTES, Kind.COUNTER, "weights that the shards have returned"),
    /** {@code lastPushMs}. */
    LAST_PUSH_MS(Scope.MOUNT, "lastPushMs", Unit.MILLISECONDS, Kind.GAUGE, "duration of the last push"),
    /** {@code lastPullMs}. */
    LAST_PULL_MS(Scope.MOUNT, "lastPullMs", Unit.MILLISECONDS, Kind.GAUGE, "duration of the last pull"),
    /** {@code lastFsyncMs}. */
    LAST_FSYNC_MS(Scope.MOUNT, "lastFsyncMs", Unit.MILLISECONDS, Kind.GAUGE,
        "duration of the last fsync that succeeded"),
    /** {@code pushGbPerSecond}. */
    PUSH_RATE(Scope.MOUNT, "pushGbPerSecond", Unit.GB_PER_SECOND, Kind.GAUGE, "mean rate of all pushes, while pushing"),
    /** {@code pullGbPerSecond}. */
    PULL_RATE(Scope.MOUNT, "pullGbPerSecond", Unit.GB_PER_SECOND, Kind.GAUGE, "mean rate of all pulls, while pulling"),

    // The iterations of a mount with sync or overlap.
    /** {@code stallMs}. */
    STALL_MS(Scope.ITERATION, "stallMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time that the learner waited in the last fsync"),
    /** {@code totalStallMs}. */
    TOTAL_STALL_MS(Scope.ITERATION, "totalStallMs", Unit.MILLISECONDS, Kind.COUNTER,
        "time that the learner waited in fsync"),
    /** {@code weightsAgeMs}. */
    WEIGHTS_AGE_MS(Scope.ITERATION, "weightsAgeMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time since the pull of the weights that are read now began"),
    /** {@code meanWeightsAgeMs}. */
    MEAN_WEIGHTS_AGE_MS(Scope.ITERATION, "meanWeightsAgeMs", Unit.MILLISECONDS, Kind.GAUGE,
        "age of the weights when the learner began to use them, mean of all iterations"),
    /** {@code weightsVersion}. */
    WEIGHTS_VERSION(Scope.ITERATION, "weightsVersion", Unit.UPDATES, Kind.COUNTER,
        "updates that each block of the weights that are read now has at least; -1 if not known; overlap"),
    /** {@code bubbleMs}. */
    BUBBLE_MS(Scope.ITERATION, "bubbleMs", Unit.MILLISECONDS, Kind.GAUGE,
        "delay of the last pull by the scheduler; overlap"),
    /** {@code meanBubbleMs}. */
    MEAN_BUBBLE_MS(Scope.ITERATION, "meanBubbleMs", Unit.MILLISECONDS, Kind.GAUGE,
        "the same, mean of all pulls; overlap"),
    /** {@code stalenessRounds}. */
    STALENESS_ROUNDS(Scope.ITERATION, "stalenessRounds", Unit.ROUNDS, Kind.GAUGE,
        "rounds by which the weights lagged behind when the learner began to use them; absent if not known; overlap"),
    /** {@code meanStalenessRounds}. */
    MEAN_STALENESS_ROUNDS(Scope.ITERATION, "meanStalenessRounds", Unit.ROUNDS, Kind.GAUGE,
        "the same, mean of all iterations where it is known; overlap"),

    // The forecast of a mount's pull scheduler for the next iteration.
    /** {@code computationMs}. */
    EXPECTED_COMPUTATION_MS(Scope.FORECAST, "computationMs", Unit.MILLISECONDS, Kind.GAUGE, "expected computation"),
    /** {@code pushMs}. */
    EXPECTED_PUSH_MS(Scope.FORECAST, "pushMs", Unit.MILLISECONDS, Kind.GAUGE, "expected push"),
    /** {@code pullMs}. */
    EXPECTED_PULL_MS(Scope.FORECAST, "pullMs", Unit.MILLISECONDS, Kind.GAUGE, "expected pull"),
    /** {@code marginMs}. */
    EXPECTED_MARGIN_MS(Scope.FORECAST, "marginMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time by which the pull starts earlier than expected to be necessary");

    /** The object of the status JSON that a metric is a member of. */
    public enum Scope {
        /** A shard: VPD page C1h, and {@code shards[]} of a mount's status.json. */
        SHARD("shards[]"),
        /** A learner of a shard. */
        LEARNER("shards[].learners[]"),
        /** A mount. */
        MOUNT("mount"),
        /** The iterations of a mount. */
        ITERATION("mount.iteration"),
        /** The forecast of a mount's pull scheduler. */
        FORECAST("mount.expected");

        private final String path;

        Scope(String path) {
            this.path = path;
        }

        /** Where the object is in a mount's status.json. */
        public String path() {
            return path;
        }
    }

    /** The unit of a metric. */
    public enum Unit {
        /** Applications of an aggregator to a block. */
        UPDATES("updates"),
        /** One gradient from each learner. */
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

        /** The unit as tables show it. */
        public String symbol() {
            return symbol;
        }
    }

    /** How a metric changes. */
    public enum Kind {
        /** It only grows, from 0 at start. */
        COUNTER,
        /** It may rise and fall. */
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

    /** The object that it is a member of. */
    public Scope scope() {
        return scope;
    }

    /** The member of {@link #scope()} that groups it with others, such as {@code version}; empty without a group. */
    public String group() {
        return group;
    }

    /** Its name in the JSON, within its group if it has one. */
    public String key() {
        return key;
    }

    /** Its unit. */
    public Unit unit() {
        return unit;
    }

    /** Whether it only grows. */
    public Kind kind() {
        return kind;
    }

    /** Its description, a noun phrase. */
    public String description() {
        return description;
    }

    /** Where it stands in a mount's status.json, such as {@code shards[].version.min}. */
    public String path() {
        return scope.path() + "." + (group.isEmpty() ? "" : group + ".") + key;
    }
}
