package io.modeldisk.mount.exchange;

import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.protocol.initiator.ShardException;
import java.io.IOException;

/**
 * Determines what happens after a gradient was discarded because a shard has gone back to earlier weights, or has forgotten the
 * learner in the middle of the gradient. In all cases, the reason and the number of lost rounds are logged.
 */
public enum OnRollback {
    /** The next fsync fails once: with EIO if a shard has gone back, with ESTALE if a shard has forgotten the learner. */
    FAIL,
    /** No call fails. The learner continues from the weights of the shards. */
    CONTINUE;

    @Override
    public String toString() {
        return EnumNames.of(this);
    }

    /** Returns whether a call has failed because a shard has gone back, or has forgotten the learner. */
    static boolean isReason(IOException failure) {
        return is(failure, ShardException.Kind.WENT_BACK) || is(failure, ShardException.Kind.LEARNER_FORGOTTEN);
    }

    /**
     * Returns an exception for a rollback that the previous process had not reported to the learner when this process took over
     * the mount.
     */
    static ShardException untold() {
        return new ShardException(ShardException.Kind.WENT_BACK, null,
            "the gradient was discarded before the mount was restarted; the log of the mount has the reason");
    }

    /** Returns whether a {@link ShardException} of this kind is among the causes of a failure. */
    static boolean is(IOException failure, ShardException.Kind kind) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ShardException shard && shard.kind() == kind) {
                return true;
            }
        }
        return false;
    }
}
