package io.modeldisk.mount.file;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.initiator.ShardException;
import java.io.IOException;

/** The error numbers that processes see when a call to the shards has failed. */
public final class FailureErrno {
    private FailureErrno() {}

    /** The error number of a failure: that of the {@link ShardException} in it, else EIO. */
    public static Errno of(IOException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ShardException shard) {
                return of(shard.kind());
            }
        }
        return Errno.EIO;
    }

    private static Errno of(ShardException.Kind kind) {
        return switch (kind) {
            case PATH_LOST, REFUSED, CLOSED -> Errno.EIO;
            case BUSY, LABEL_IN_USE -> Errno.EBUSY;
            case ROUND_TIMEOUT -> Errno.ETIMEDOUT;
            case JOB_STOPPED -> Errno.ECANCELED;
            case ROUND_CLOSED, LEARNER_FORGOTTEN -> Errno.ESTALE;
            case ACCESS_DENIED -> Errno.EACCES;
            case WRONG_SHARD -> Errno.ENXIO;
        };
    }
}
