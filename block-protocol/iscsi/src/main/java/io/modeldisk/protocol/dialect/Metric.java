package io.modeldisk.protocol.dialect;

import java.util.Locale;

/**
 * All metrics that a shard or a mount reports. Each metric is declared once, with its path in the status JSON, its unit and its
 * description. The name of a constant determines its {@linkplain #prometheusName name in Prometheus}. The reference in docs/ and
 * the dashboard in deploy/metrics/ are generated from this enum.
 */
public enum Metric {
    // @formatter:off
    // Metrics of a process that was started with --admin.
    BUILD_VERSION(Scope.BUILD, "version", Unit.NONE, Kind.TEXT, "version of modeldisk"),
    BUILD_JAVA(Scope.BUILD, "java", Unit.NONE, Kind.TEXT, "version of Java"),
    RESIDENT_BYTES(Scope.PROCESS, "memory", "residentBytes", Unit.BYTES, Kind.GAUGE,
        "memory of the process that is in RAM, including shared memory"),
    AVAILABLE_BYTES(Scope.PROCESS, "memory", "availableBytes", Unit.BYTES, Kind.GAUGE,
        "memory that the process can still allocate within the limits of the machine and of its control groups; absent if no "
            + "limit is known"),
    CONNECTIONS(Scope.PROCESS, "connections", Unit.CONNECTIONS, Kind.GAUGE,
        "open iSCSI connections of a shard"),
    BUFFERS_USED_BYTES(Scope.PROCESS, "buffers", "usedBytes", Unit.BYTES, Kind.GAUGE,
        "memory for incoming data that is in use: a reserve for each session, and the data of writes in progress; only of a "
            + "shard"),
    BUFFERS_LIMIT_BYTES(Scope.PROCESS, "buffers", "limitBytes", Unit.BYTES, Kind.GAUGE,
        "memory for incoming data (`serve --buffers`); a write waits if its data does not fit; only of a shard"),

    // Metrics of a model. Their values never change.
    SHARDS(Scope.MODEL, "shards", Unit.SHARDS, Kind.GAUGE, "shards of the model"),
    SIZE_BYTES(Scope.MODEL, "sizeBytes", Unit.BYTES, Kind.GAUGE, "size of the weights of the whole model in float32"),

    // Metrics of a shard.
    SERVING(Scope.SHARD, "serving", Unit.NONE, Kind.FLAG, "whether the process accepts pushes from learners for the shard"),
    CONSISTENCY(Scope.SHARD, "consistency", Unit.NONE, Kind.TEXT, "consistency mode"),
    AGGREGATOR(Scope.SHARD, "aggregator", Unit.NONE, Kind.TEXT, "aggregator with its options"),
    DURABILITY(Scope.SHARD, "durability", Unit.NONE, Kind.TEXT,
        "durability mode: memory, checkpoint, journal or replica (`serve --durability`)"),
    VERSION_MIN(Scope.SHARD, "version", "min", Unit.UPDATES, Kind.GAUGE,
        "updates of the block with the fewest updates"),
    VERSION_MAX(Scope.SHARD, "version", "max", Unit.UPDATES, Kind.GAUGE,
        "updates of the block with the most updates"),
    VERSION_OF_ALL_BLOCKS(Scope.SHARD, "version", "total", Unit.UPDATES, Kind.GAUGE,
        "sum of the updates of all blocks; falls when the shard goes back to a checkpoint"),
    UPDATES(Scope.SHARD, "updates", Unit.UPDATES, Kind.COUNTER, "updates of all blocks since the shard was started"),
    ROUNDS_MIN(Scope.SHARD, "rounds", "min", Unit.ROUNDS, Kind.GAUGE,
        "closed rounds of the block with the fewest closed rounds; only with bsp"),
    ROUNDS_MAX(Scope.SHARD, "rounds", "max", Unit.ROUNDS, Kind.GAUGE,
        "closed rounds of the block with the most closed rounds; only with bsp"),
    STOPPED(Scope.SHARD, "stopped", Unit.NONE, Kind.FLAG,
        "why the job has stopped: too few learners are left (`serve --min-learners`)"),
    LEARNERS_MISSING(Scope.SHARD, "learnersMissing", Unit.LEARNERS, Kind.GAUGE,
        "learners that must still join before the first round can close; absent after enough learners have joined"),
    LEARNERS_LEFT_OUT(Scope.SHARD, "learnersLeftOut", Unit.LEARNERS, Kind.GAUGE,
        "learners that are missing in learners[], because the status of a shard has at most 65000 bytes; absent if none is "
            + "missing"),
    WAITING(Scope.SHARD, "waiting", Unit.COMMANDS, Kind.GAUGE, "commands that wait for a round or for other learners"),
    FOLLOWERS(Scope.SHARD, "followers", Unit.MOUNTS, Kind.GAUGE,
        "connected mounts that follow the model (`mount --read-only`); no round waits for them"),
    PUSHES(Scope.SHARD, "pushes", Unit.COMMANDS, Kind.COUNTER, "PUSH and WRITE commands of LUN 0 that were accepted"),
    PULLS(Scope.SHARD, "pulls", Unit.COMMANDS, Kind.COUNTER, "PULL and READ commands of LUN 0 that were accepted"),
    PUSHED_BYTES(Scope.SHARD, "pushedBytes", Unit.BYTES, Kind.COUNTER, "gradient bytes that were accepted"),
    PULLED_BYTES(Scope.SHARD, "pulledBytes", Unit.BYTES, Kind.COUNTER, "weight bytes that were pulled"),
    NON_FINITE_PUSHES(Scope.SHARD, "nonFinitePushes", Unit.COMMANDS, Kind.COUNTER,
        "gradients of mounts, and pushes of other initiators, that were refused or skipped, because they contained a NaN or an"
            + " infinity"),
    DEVICE_PUSHES(Scope.SHARD, "devicePushes", Unit.COMMANDS, Kind.COUNTER,
        "pushes whose gradient has arrived in memory of the device; absent without --device"),
    STATE_BYTES(Scope.SHARD, "stateBytes", Unit.BYTES, Kind.GAUGE,
        "memory of the state that the aggregator keeps for the weights"),
    MEMORY_BYTES(Scope.SHARD, "memoryBytes", Unit.BYTES, Kind.GAUGE,
        "memory that the shard needs with its options, as printed by `serve --dry-run`"),
    READERS_USED_BYTES(Scope.SHARD, "readers", "usedBytes", Unit.BYTES, Kind.GAUGE,
        "memory of the copies for readers of an earlier round"),
    READERS_LIMIT_BYTES(Scope.SHARD, "readers", "limitBytes", Unit.BYTES, Kind.GAUGE,
        "memory for the copies for readers (`serve --reader-memory`), at most the size of the shard; 0 without bsp"),
    CHECKPOINT_NUMBER(Scope.SHARD, "checkpoint", "number", Unit.NONE, Kind.GAUGE,
        "number of the newest checkpoint of the model; 0 if there is none; only with `--state`"),
    CHECKPOINT_AGE(Scope.SHARD, "checkpoint", "ageSeconds", Unit.SECONDS, Kind.GAUGE,
        "time since the newest checkpoint was taken; if there is none, since the shard was started; only with `--state`"),
    CHECKPOINT_FAILED(Scope.SHARD, "checkpoint", "failure", Unit.NONE, Kind.FLAG, "why the last checkpoint failed"),
    JOURNAL_BYTES(Scope.SHARD, "journal", "bytes", Unit.BYTES, Kind.GAUGE,
        "size of the journal; only with `--durability journal`"),
    JOURNAL_LIMIT_BYTES(Scope.SHARD, "journal", "limitBytes", Unit.BYTES, Kind.GAUGE,
        "size of the journal at which the shards take a checkpoint early; at twice this size, the shard refuses pushes"),
    JOURNAL_SEGMENTS(Scope.SHARD, "journal", "segments", Unit.FILES, Kind.GAUGE, "files of the journal"),
    JOURNAL_SYNC_AGE_MS(Scope.SHARD, "journal", "lastSyncMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time since the journal was last written to disk; absent before the first time"),
    RECORDS_APPENDED(Scope.SHARD, "records", "appended", Unit.RECORDS, Kind.COUNTER,
        "records of changes for the journal or the backups"),
    RECORDS_DURABLE(Scope.SHARD, "records", "durable", Unit.RECORDS, Kind.COUNTER,
        "records that are on disk or applied by the backups in sync"),
    RECORDS_FAILED(Scope.SHARD, "records", "failure", Unit.NONE, Kind.FLAG,
        "why the shard cannot keep records, and therefore refuses pushes"),
    ROLE(Scope.SHARD, "replication", "role", Unit.NONE, Kind.TEXT,
        "primary, backup or standby; absent if only one process can serve the shard"),
    EPOCH(Scope.SHARD, "replication", "epoch", Unit.NONE, Kind.GAUGE,
        "number of the epoch of the primary; grows with each takeover"),
    BLOCKS_MISSING(Scope.SHARD, "replication", "blocksMissing", Unit.BLOCKS, Kind.GAUGE,
        "blocks that a backup must still get from the primary"),
    UPTIME(Scope.SHARD, "uptimeSeconds", Unit.SECONDS, Kind.GAUGE, "time since the shard was started"),

    // Metrics of a backup, which its primary reports.
    BACKUP_IN_SYNC(Scope.BACKUP, "inSync", Unit.NONE, Kind.FLAG,
        "whether the backup has all durable records, so it can become the primary"),
    BACKUP_AWAY(Scope.BACKUP, "away", Unit.NONE, Kind.FLAG, "why the primary has no connection to the backup"),
    BACKUP_BEHIND_RECORDS(Scope.BACKUP, "recordsBehind", Unit.RECORDS, Kind.GAUGE,
        "records that the backup has not applied yet"),
    BACKUP_BEHIND_BYTES(Scope.BACKUP, "bytesBehind", Unit.BYTES, Kind.GAUGE,
        "size of the records that the backup has not applied yet"),
    BACKUP_BEHIND_MS(Scope.BACKUP, "msBehind", Unit.MILLISECONDS, Kind.GAUGE,
        "age of the oldest record that the backup has not applied yet"),
    BACKUP_BLOCKS_TO_SEND(Scope.BACKUP, "blocksToSend", Unit.BLOCKS, Kind.GAUGE,
        "blocks that the backup must still get before it is in sync"),

    // Metrics of one learner, which a shard reports.
    LEARNER_STATE(Scope.LEARNER, "state", Unit.NONE, Kind.TEXT, "live, or lost if the learner's connection was lost"),
    LEARNER_JOIN_ROUND(Scope.LEARNER, "joinRound", Unit.ROUNDS, Kind.GAUGE,
        "first round that the learner takes part in"),
    LEARNER_CLOCK_MIN(Scope.LEARNER, "clock", "min", Unit.ROUNDS, Kind.GAUGE,
        "rounds that the learner has pushed, in the block with the fewest pushed rounds"),
    LEARNER_CLOCK_MAX(Scope.LEARNER, "clock", "max", Unit.ROUNDS, Kind.GAUGE,
        "rounds that the learner has pushed, in the block with the most pushed rounds"),
    LEARNER_BEHIND_ROUNDS(Scope.LEARNER, "behind", "rounds", Unit.ROUNDS, Kind.GAUGE,
        "rounds that another learner has pushed and this learner has not, in the block with the most such rounds; "
            + "absent if none"),
    LEARNER_BEHIND_MS(Scope.LEARNER, "behind", "ms", Unit.MILLISECONDS, Kind.GAUGE,
        "time since another learner pushed the first round that this learner has not pushed"),
    LEARNER_WAITED_FOR(Scope.LEARNER, "behind", "waitedFor", Unit.NONE, Kind.FLAG,
        "whether other learners wait for this learner"),
    LEARNER_LATE_MS(Scope.LEARNER, "lateMs", Unit.MILLISECONDS, Kind.COUNTER,
        "time from the first push of a round to the push of this learner, for rounds that it pushed last;"
            + " 0 without bsp"),
    LEARNER_PUSHES(Scope.LEARNER, "pushes", Unit.COMMANDS, Kind.COUNTER, "pushes of the learner that were accepted"),
    LEARNER_PUSHED_BYTES(Scope.LEARNER, "pushedBytes", Unit.BYTES, Kind.COUNTER,
        "gradient bytes of the learner that were accepted"),
    LEARNER_PULLED_BYTES(Scope.LEARNER, "pulledBytes", Unit.BYTES, Kind.COUNTER,
        "weight bytes that the learner has pulled"),
    LEARNER_NON_FINITE_PUSHES(Scope.LEARNER, "nonFinitePushes", Unit.COMMANDS, Kind.COUNTER,
        "gradients of the learner that were refused or skipped, because they contained a NaN or an infinity; absent if none"),

    // Metrics of a mount.
    MOUNT_UPTIME(Scope.MOUNT, "uptimeSeconds", Unit.SECONDS, Kind.GAUGE, "time since the model was mounted"),
    SHARDS_REACHABLE(Scope.MOUNT, "shardsReachable", Unit.NONE, Kind.FLAG,
        "whether all shards answer the mount within a few seconds; only in `/status`"),
    EXCHANGE(Scope.MOUNT, "exchange", Unit.NONE, Kind.TEXT, "exchange scheme"),
    DTYPE(Scope.MOUNT, "dtype", Unit.NONE, Kind.TEXT, "type of weights and gradients"),
    FOLLOWER(Scope.MOUNT, "follower", Unit.NONE, Kind.FLAG, "whether the mount only follows the model (`--read-only`)"),
    MOUNT_BUFFERS_BYTES(Scope.MOUNT, "bufferBytes", Unit.BYTES, Kind.GAUGE,
        "memory of the local buffers for weights and gradients; 0 with `direct`"),
    TRAINING(Scope.MOUNT, "training", Unit.NONE, Kind.FLAG, "whether a process uses the mount as a learner"),
    FAILURES(Scope.MOUNT, "failures", Unit.EVENTS, Kind.COUNTER,
        "calls on files of the mount, and requests to the shards, that have failed"),
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
    PUSH_MS(Scope.MOUNT, "totalPushMs", Unit.MILLISECONDS, Kind.COUNTER, "duration of all pushes"),
    PULL_MS(Scope.MOUNT, "totalPullMs", Unit.MILLISECONDS, Kind.COUNTER, "duration of all pulls"),
    PUSH_RATE(Scope.MOUNT, "pushGbPerSecond", Unit.GB_PER_SECOND, Kind.GAUGE,
        "mean rate of all pushes; the time between pushes is excluded"),
    PULL_RATE(Scope.MOUNT, "pullGbPerSecond", Unit.GB_PER_SECOND, Kind.GAUGE,
        "mean rate of all pulls; the time between pulls is excluded"),
    ROLLBACKS(Scope.MOUNT, "rollbacks", Unit.EVENTS, Kind.COUNTER,
        "times that shards went back to earlier weights while the learner used them"),
    ROUNDS_TAKEN_BACK(Scope.MOUNT, "roundsTakenBack", Unit.ROUNDS, Kind.COUNTER,
        "rounds of the learner that were lost when shards went back"),

    // Metrics of the iterations of a mount. These metrics exist with exchange=sync and exchange=overlap.
    LAST_STALL_MS(Scope.ITERATION, "stallMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time that the learner waited in the last fsync"),
    STALL_MS(Scope.ITERATION, "totalStallMs", Unit.MILLISECONDS, Kind.COUNTER,
        "time that the learner waited in all fsync calls"),
    WEIGHTS_AGE_MS(Scope.ITERATION, "weightsAgeMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time since the start of the pull that fetched the current weights"),
    MEAN_WEIGHTS_AGE_MS(Scope.ITERATION, "meanWeightsAgeMs", Unit.MILLISECONDS, Kind.GAUGE,
        "mean age of the weights when the learner began to use them"),
    WEIGHTS_VERSION(Scope.ITERATION, "weightsVersion", Unit.UPDATES, Kind.GAUGE,
        "updates of the block with the fewest updates in the current weights; -1 if not known; only with overlap"),
    LAST_BUBBLE_MS(Scope.ITERATION, "bubbleMs", Unit.MILLISECONDS, Kind.GAUGE,
        "time by which the pull scheduler delayed the last pull; only with overlap"),
    BUBBLE_MS(Scope.ITERATION, "totalBubbleMs", Unit.MILLISECONDS, Kind.COUNTER,
        "time by which the pull scheduler delayed all pulls; only with overlap"),
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
        /**
         * The program. Only the answer of {@code /status} ({@code --admin}) contains this object and the object {@link #PROCESS}.
         */
        BUILD("build", "build"), PROCESS("process", "process"),
        /** The facts of a model. */
        MODEL("model", "model"),
        /** A shard. The object is in VPD page C1h, and in {@code shards[]} of the status.json of a mount. */
        SHARD("shards[]", "shard"), BACKUP("shards[].replication.backups[]", "backup"), LEARNER("shards[].learners[]",
            "learner"), MOUNT("mount", "mount"), ITERATION("mount.iteration", "mount"),
        /** The forecast of the pull scheduler of a mount. */
        FORECAST("mount.expected", "mount");

        private final String path;
        private final String prefix;

        Scope(String path, String prefix) {
            this.path = path;
            this.prefix = prefix;
        }

        /** Returns the path of the object in the status.json of a mount. */
        public String path() {
            return path;
        }

        /** Returns the Prometheus name of the metric whose labels are the texts of this scope. */
        public String infoName() {
            return "modeldisk_" + prefix + "_info";
        }
    }

    /** The unit of a metric. */
    public enum Unit {
        /** A text, a flag or a number without a unit. */
        NONE(""),
        /** Updates. An update is one application of the aggregator to one block. */
        UPDATES("updates"),
        /** Rounds. A round has one gradient from each learner. */
        ROUNDS("rounds"), SHARDS("shards"), BLOCKS("blocks"), LEARNERS("learners"), MOUNTS("mounts"), CONNECTIONS(
            "connections"), COMMANDS("commands"), RECORDS("records"), FILES("files"),
        /** Iterations of a learner. */
        ITERATIONS("iterations"), BYTES("bytes", "_BYTES", "_bytes", 1),
        /** Milliseconds, with decimals. */
        MILLISECONDS("ms", "_MS", "_seconds", 1e-3), SECONDS("s", "", "_seconds", 1), EVENTS("events"),
        /** 10<sup>9</sup> bytes per second. */
        GB_PER_SECOND("GB/s", "_RATE", "_bytes_per_second", 1e9);

        private final String symbol;
        /** The suffix of the constants with this unit. */
        private final String ending;
        /** The suffix of the Prometheus names of metrics with this unit. It contains the base unit (bytes or seconds). */
        private final String baseEnding;
        private final double baseUnits;

        Unit(String symbol) {
            this(symbol, "", "", 1);
        }

        Unit(String symbol, String ending, String baseEnding, double baseUnits) {
            this.symbol = symbol;
            this.ending = ending;
            this.baseEnding = baseEnding;
            this.baseUnits = baseUnits;
        }

        /** Returns the symbol of the unit, such as {@code GB/s}; empty if there is none. */
        public String symbol() {
            return symbol;
        }

        /** Returns the factor that converts a value of this unit to the base unit (bytes or seconds). */
        public double baseUnits() {
            return baseUnits;
        }
    }

    /** The way in which a metric changes. */
    public enum Kind {
        /** A counter starts at 0 and only grows, as long as the process runs and does not go back to a checkpoint. */
        COUNTER,
        /** A gauge can rise and fall. */
        GAUGE,
        /**
         * A flag. The value is true or a text if the flag is set, and false or absent otherwise. In Prometheus, the value is 1 or
         * 0.
         */
        FLAG,
        /** A text. In Prometheus, a text is a label of the metric {@link Scope#infoName}. */
        TEXT
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

    /**
     * Returns the name of the metric in Prometheus, such as {@code modeldisk_mount_last_push_seconds}. For a text, returns
     * {@link Scope#infoName}, because a text is the label {@link #label} of that metric.
     */
    public String prometheusName() {
        String own = withoutPrefix();
        String name = own.substring(0, own.length() - unit.ending.length()).toLowerCase(Locale.ROOT);
        return switch (kind) {
            case TEXT -> scope.infoName();
            case COUNTER -> "modeldisk_" + scope.prefix + "_" + name.replaceFirst("_total$", "") + unit.baseEnding
                + "_total";
            case GAUGE, FLAG -> "modeldisk_" + scope.prefix + "_" + name + unit.baseEnding;
        };
    }

    /** Returns the name of the Prometheus label that holds a text. */
    public String label() {
        return withoutPrefix().toLowerCase(Locale.ROOT);
    }

    private String withoutPrefix() {
        String prefix = scope.prefix.toUpperCase(Locale.ROOT) + "_";
        return name().startsWith(prefix) ? name().substring(prefix.length()) : name();
    }

    /** Returns the path of the metric in the status.json of a mount, such as {@code shards[].version.min}. */
    public String path() {
        return scope.path() + "." + (group.isEmpty() ? "" : group + ".") + key;
    }
}
