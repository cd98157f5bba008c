package io.modeldisk.protocol.dialect;

import io.modeldisk.protocol.scsi.Sense;

/** Why a shard refuses a push or a pull for its round, as sense data, and in words for who reads it. PROTOCOL.md tells when. */
public enum RoundSense {
    /** COMMAND SEQUENCE ERROR: a push of a round by who is no learner. */
    NO_LEARNER(0x00, "the shard has forgotten this learner: its lease has ended, or the shard was started again"),

    /** With a vendor-specific qualifier: the round goes without this learner. */
    NOT_IN_ROUND(0x80, "the round was closed without this learner"),

    /** With a vendor-specific qualifier: the job has stopped. */
    TOO_FEW_LEARNERS(0x81,
        "the job has stopped: fewer learners are left than its --min-learners (`modeldisk status` says who);"
            + " it goes on when there are enough again"),

    /** With a vendor-specific qualifier: the gradient cannot be used. */
    NON_FINITE(0x82, "the gradient has a NaN or an infinity, which would destroy the weights; nothing of it was applied"
        + " (serve --non-finite)"),

    /** With a vendor-specific qualifier: the shard has no memory for another learner. */
    TOO_MANY_LEARNERS(0x83,
        "the shard has no memory for another learner; start it with a larger heap (JDK_JAVA_OPTIONS=-Xmx...)");

    private static final int KEY = 0x5;
    private static final int ASC = 0x2C;

    private final Sense sense;
    private final String words;

    RoundSense(int ascq, String words) {
        this.sense = Sense.of(KEY, ASC, ascq);
        this.words = words;
    }

    /** The sense data. */
    public Sense sense() {
        return sense;
    }

    /** What a sense means: in the words of one of these, or its own. */
    public static String describe(Sense sense) {
        for (RoundSense each : values()) {
            if (each.sense.equals(sense)) {
                return each.words + " (" + sense + ")";
            }
        }
        return sense.toString();
    }
}
