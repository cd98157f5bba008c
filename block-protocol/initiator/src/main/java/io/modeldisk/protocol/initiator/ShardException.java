package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.pdu.LoginStatus;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;
import java.io.IOException;
import java.io.Serial;

/**
 * A call that failed at one shard: which shard, why, and the SCSI status and sense data of the command if the shard has answered
 * one. {@link #kind} says what the caller can do. Immutable.
 */
public final class ShardException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    private static final int NO_STATUS = -1;
    private static final int INITIATOR_ERROR_CLASS = 2;

    /** Why a call failed, as far as the caller can act on it. */
    public enum Kind {
        /** The shard does not answer, or the connection was lost. A later call connects again. */
        PATH_LOST,
        /** The shard is BUSY, or this side has no place for another call. A later call may succeed. */
        BUSY,
        /** Other learners did not push their rounds within the wait timeout. A later call waits again. */
        ROUND_TIMEOUT,
        /** The job has stopped: fewer learners are left than it needs. It goes on when enough have joined again. */
        JOB_STOPPED,
        /** The round was closed without this learner. */
        ROUND_CLOSED,
        /** The shard has forgotten this learner: its lease has ended, or the shard was restarted. */
        LEARNER_FORGOTTEN,
        /** Another process logs in with the same learner label. */
        LABEL_IN_USE,
        /** The login was refused: wrong secret, or no right to do this. */
        ACCESS_DENIED,
        /** Another shard or another model answers at this address. */
        WRONG_SHARD,
        /** The shard refuses the command or the login for another reason. */
        REFUSED,
        /** This side has closed the model, or this learner has left. */
        CLOSED
    }

    private final Kind kind;
    private final transient ShardId shard;
    private final int status;
    private final int sense;

    /** A failure without an answer to a command; the message names the shard. */
    public ShardException(Kind kind, ShardId shard, String message, Throwable cause) {
        this(kind, shard, NO_STATUS, 0, message, cause);
    }

    /** A failure without an answer to a command; the message names the shard. */
    public ShardException(Kind kind, ShardId shard, String message) {
        this(kind, shard, message, null);
    }

    private ShardException(Kind kind, ShardId shard, int status, int sense, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.shard = shard;
        this.status = status;
        this.sense = sense;
    }

    /**
     * A command that ended with another status than GOOD.
     *
     * @param doing what the command was for, as {@code reading at byte 4096}; null for none
     */
    public static ShardException ofCommand(ShardId shard, String doing, int status, int sense) {
        return new ShardException(kindOf(status, sense), shard, status, sense,
            (doing == null ? shard.toString() : doing + " of " + shard) + ": " + describe(status, sense), null);
    }

    /** A login that the target has refused. */
    public static ShardException ofLogin(ShardId shard, LoginException refusal) {
        Kind kind = switch (refusal.status()) {
            case LoginStatus.AUTHENTICATION_FAILURE, LoginStatus.AUTHORIZATION_FAILURE -> Kind.ACCESS_DENIED;
            default -> refusal.status() >> 8 == INITIATOR_ERROR_CLASS ? Kind.REFUSED : Kind.PATH_LOST;
        };
        return new ShardException(kind, shard, shard + ": " + refusal.getMessage(), refusal);
    }

    private static Kind kindOf(int status, int sense) {
        if (status != ScsiStatus.CHECK_CONDITION) {
            return switch (status) {
                case ScsiStatus.BUSY, ScsiStatus.TASK_SET_FULL, ScsiStatus.TASK_ABORTED -> Kind.BUSY;
                default -> Kind.REFUSED;
            };
        }
        Sense data = unpack(sense);
        if (data.equals(RoundSense.NO_LEARNER.sense())) {
            return Kind.LEARNER_FORGOTTEN;
        }
        if (data.equals(RoundSense.NOT_IN_ROUND.sense())) {
            return Kind.ROUND_CLOSED;
        }
        return data.equals(RoundSense.TOO_FEW_LEARNERS.sense()) ? Kind.JOB_STOPPED : Kind.REFUSED;
    }

    /** A status and sense data as messages show them. */
    static String describe(int status, int sense) {
        String name = ScsiStatus.describe(status);
        return sense == 0 ? name : name + ", " + RoundSense.describe(unpack(sense));
    }

    private static Sense unpack(int sense) {
        return Sense.of(sense >> 16, sense >> 8 & 0xFF, sense & 0xFF);
    }

    /** The same failure, thrown again by another thread or call: with that one's stack trace, and this as its cause. */
    public ShardException again() {
        return new ShardException(kind, shard, status, sense, getMessage(), this);
    }

    /** The same failure with another message. */
    public ShardException withMessage(String message) {
        return new ShardException(kind, shard, status, sense, message, this);
    }

    /** Why the call failed. */
    public Kind kind() {
        return kind;
    }

    /** The shard where it failed; null if it was read from a stream. */
    public ShardId shard() {
        return shard;
    }

    /** The SCSI status; -1 if the shard has not answered. */
    public int status() {
        return status;
    }

    /** Sense key, additional sense code and qualifier, one byte each from bit 16 down; 0 without sense data. */
    public int sense() {
        return sense;
    }
}
