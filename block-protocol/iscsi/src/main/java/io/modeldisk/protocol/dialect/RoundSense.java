package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Sense;

/** The reasons for which a shard refuses a command on its train unit: sense data and a text. PROTOCOL.md says when. */
public enum RoundSense {
    /** COMMAND SEQUENCE ERROR: a nexus that is no learner pushes a round. */
    NO_LEARNER(0x00, "the shard has forgotten this learner: its lease has ended, or the shard was started again"),

    /** With a vendor-specific qualifier: the round closes without this learner. */
    NOT_IN_ROUND(0x80, "the round was closed without this learner"),

    /** With a vendor-specific qualifier: the job has stopped. */
    TOO_FEW_LEARNERS(0x81,
        "the job has stopped: fewer learners are left than --min-learners (see `modeldisk status`);"
            + " it goes on when there are enough again"),

    /** With a vendor-specific qualifier: the gradient cannot be used. */
    NON_FINITE(0x82, "the gradient has a NaN or an infinity, which would destroy the weights; nothing of it was applied"
        + " (serve --non-finite)"),

    /** ACCESS DENIED - NO ACCESS RIGHTS: the user of the session has not the right. */
    NO_RIGHT(Sense.NO_ACCESS_RIGHTS, "the user that has logged in may not do this (may= in the shard's secrets file)"),

    /** With a vendor-specific qualifier: the shard has no memory for another learner. */
    TOO_MANY_LEARNERS(0x83,
        "the shard has no memory for another learner; start it with a larger heap (JDK_JAVA_OPTIONS=-Xmx...)");

    // COMMAND SEQUENCE ERROR.
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

    /** The sense data. */
    public Sense sense() {
        return sense;
    }

    /** A text for a sense: that of one of these reasons, or the name of the sense. */
    public static String describe(Sense sense) {
        for (RoundSense each : values()) {
            if (each.sense.equals(sense)) {
                return each.words + " (" + sense + ")";
            }
        }
        return sense.toString();
    }
}
