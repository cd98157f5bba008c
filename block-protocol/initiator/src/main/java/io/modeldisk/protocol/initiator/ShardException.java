package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.pdu.LoginStatus;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;
import java.io.IOException;
import java.io.Serial;

/**
 * The failure of a call at one shard. The exception carries the shard and the kind of the failure, which shows how the caller can
 * react. The message contains the SCSI status and sense data if the shard has responded to the command. Immutable.
 */
public final class ShardException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    private static final int INITIATOR_ERROR_CLASS = 2;
    private static final int UNIT_ATTENTION = 0x6;

    /** The kinds of failures. The caller can react to each kind in a different way. */
    public enum Kind {
        /** The shard does not respond, is not served at its address, or the connection was lost. A later call connects again. */
        PATH_LOST,
        /** The shard is BUSY, or the initiator cannot send another command now. A later call might succeed. */
        BUSY,
        /** Other learners did not push their rounds within the wait timeout. A later call waits again. */
        ROUND_TIMEOUT,
        /** The job has stopped because too few learners are left. The job continues when enough learners have joined. */
        JOB_STOPPED,
        /** The round of the push has closed, or is before the first round of this learner. */
        ROUND_CLOSED,
        /** The shard has forgotten this learner: the lease has expired, or the shard was restarted. */
        LEARNER_FORGOTTEN,
        /** Another process already uses this learner name, or the name belongs to another user. */
        NAME_IN_USE,
        /** The shard has gone back to earlier weights: it was restarted and has lost pushes that it had acknowledged. */
        WENT_BACK,
        /** The target refused the login or the command because the secret is wrong or the user lacks the necessary right. */
        ACCESS_DENIED,
        /** The target at the address is another shard or belongs to another model. */
        WRONG_SHARD,
        /** The shard was restarted with another model of the same name, for example of another size. */
        MODEL_CHANGED,
        /** The shard refused the command or the login for a reason that no other kind describes. */
        REFUSED,
        /** The caller has closed the model, or this learner has left. */
        CLOSED
    }

    private final Kind kind;
    private final transient ShardId shard;

    /** Creates a failure. The message must name the shard. */
    public ShardException(Kind kind, ShardId shard, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.shard = shard;
    }

    /** Creates a failure without a cause. The message must name the shard. */
    public ShardException(Kind kind, ShardId shard, String message) {
        this(kind, shard, message, null);
    }

    /**
     * Creates the exception for a command that completed with a status other than GOOD.
     *
     * @param doing the operation that failed, such as {@code reading at byte 4096}; null for none
     * @param words the target's reason in words; null for none
     */
    static ShardException ofCommand(ShardId shard, String doing, int status, int sense, String words) {
        return new ShardException(kindOf(status, sense), shard,
            shard + ": " + (doing == null ? "" : doing + " failed: ") + describe(status, sense, words));
    }

    /** Creates the exception for a login that the target has refused. */
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
        if (data.equals(RoundSense.NAME_IN_USE.sense())) {
            return Kind.NAME_IN_USE;
        }
        if (data.equals(RoundSense.NO_RIGHT.sense())) {
            return Kind.ACCESS_DENIED;
        }
        if (data.key() == UNIT_ATTENTION) {
            return Kind.BUSY;
        }
        return data.equals(RoundSense.TOO_FEW_LEARNERS.sense()) ? Kind.JOB_STOPPED : Kind.REFUSED;
    }

    /** Returns a status and sense data as text for messages. */
    static String describe(int status, int sense, String words) {
        String name = ScsiStatus.describe(status);
        if (sense == 0) {
            return name;
        }
        return name + ", " + (words == null ? RoundSense.describe(unpack(sense)) : words + " (" + unpack(sense) + ")");
    }

    private static Sense unpack(int sense) {
        return Sense.of(sense >> 16, sense >> 8 & 0xFF, sense & 0xFF);
    }

    /** Returns a copy for another thread or call, with a new stack trace and this exception as its cause. */
    public ShardException again() {
        return new ShardException(kind, shard, getMessage(), this);
    }

    /** Returns a copy of this exception with another message. The copy has this exception as its cause. */
    public ShardException withMessage(String message) {
        return new ShardException(kind, shard, message, this);
    }

    /** The kind of the failure. */
    public Kind kind() {
        return kind;
    }

    /** The shard that failed; null if the exception was deserialized. */
    public ShardId shard() {
        return shard;
    }
}
