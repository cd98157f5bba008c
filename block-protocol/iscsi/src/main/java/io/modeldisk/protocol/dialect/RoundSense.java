package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Sense;

/** The reasons why a shard refuses a command on its train unit. Each reason has sense data and a text (see PROTOCOL.md). */
public enum RoundSense {
    /** COMMAND SEQUENCE ERROR: a nexus pushes a round but is not a learner. */
    NO_LEARNER(0x00, "the shard has forgotten this learner: its lease has expired, or the shard was restarted"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: the round was closed without this learner. */
    NOT_IN_ROUND(0x80, "the round was closed without this learner"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: the job has stopped. */
    TOO_FEW_LEARNERS(0x81,
        "the job has stopped: fewer learners are left than --min-learners (see `modeldisk status`);"
            + " the job continues when enough learners have joined again"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: the gradient has a value that is not finite. */
    NON_FINITE(0x82,
        "the gradient has a NaN or an infinity, which would destroy the weights; no part of this command was applied"
            + " (see `modeldisk serve --non-finite`)"),

    /** ACCESS DENIED - NO ACCESS RIGHTS: the user of the session does not have the right that the command needs. */
    NO_RIGHT(Sense.NO_ACCESS_RIGHTS,
        "the user of this session does not have the right for this command; add the right to the user's may= in the"
            + " shard's secrets file"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: the shard cannot start a checkpoint. */
    NO_CHECKPOINTS(0x84,
        "the shard takes no checkpoints; start all shards with --state DIR, and send the command to shard 0"),

    /** WRITE ERROR: a sink of the shard's records has failed, so the shard cannot keep a record of any change. */
    NOT_KEPT(Sense.of(0x3, 0x0C, 0x00),
        "the shard cannot keep a record of the change at present, for example because its disk is full (see `modeldisk"
            + " status`); the shard tries again by itself"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: the shard has no memory for another learner. */
    TOO_MANY_LEARNERS(0x83,
        "the shard has no memory for another learner; start it with a larger heap (JDK_JAVA_OPTIONS=-Xmx...)"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: records of a primary that another primary has replaced. */
    OLD_EPOCH(0x85, "the records are from an old epoch: another process has become the primary of this shard"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: a backup cannot apply the records. */
    RECORDS_REFUSED(0x86,
        "the backup cannot apply the records, because records are missing or damaged; the log of the backup has the"
            + " reason, and the primary sends the changed blocks again"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: primary and backup have different options. */
    OTHER_OPTIONS(0x87,
        "the backup was started with other options than the primary (model, size, source, block size, shard, aggregator,"
            + " consistency, learners); start both with the same options"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: the shard cannot hand over. */
    NO_BACKUP(0x89, "the primary cannot hand over, because no backup of the shard is in sync (see `modeldisk status`)"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: another learner uses the initiator name. */
    NAME_IN_USE(0x8F,
        "another process is the learner with this name, or the name belongs to another user until the lease of its learner"
            + " ends; give each learner a different --learner"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: the aggregator has no learning rate. */
    NO_LEARNING_RATE(0x8A, "the aggregator of the model has no learning rate"),

    /** COMMAND SEQUENCE ERROR with a vendor-specific qualifier: the process accepts no records. */
    NOT_A_BACKUP(0x88, "the process is not a backup, so it accepts no records");

    // The sense key and the additional sense code of COMMAND SEQUENCE ERROR.
    private static final int COMMAND_SEQUENCE_KEY = 0x5;
    private static final int COMMAND_SEQUENCE_ASC = 0x2C;

    private final Sense sense;
    private final String words;

    RoundSense(int ascq, String words) {
        this(Sense.of(COMMAND_SEQUENCE_KEY, COMMAND_SEQUENCE_ASC, ascq), words);
    }

    RoundSense(Sense sense, String words) {
        this.sense = sense;
        this.words = words;
    }

    /** The sense data of this reason. */
    public Sense sense() {
        return sense;
    }

    /**
     * Returns the text of the reason with this sense data. If no reason has this sense data, returns the codes of the sense data.
     */
    public static String describe(Sense sense) {
        for (RoundSense each : values()) {
            if (each.sense.equals(sense)) {
                return each.words + " (" + sense + ")";
            }
        }
        return sense.toString();
    }
}
