package io.modeldisk.mount.file;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.initiator.ShardException;
import java.io.IOException;

/** Determines the error number that a system call returns when its request to the shards has failed. */
public final class FailureErrno {
    private FailureErrno() {}

    /** Returns the error number for the {@link ShardException} among the causes of a failure, or EIO if there is none. */
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
            case PATH_LOST, REFUSED, CLOSED, WENT_BACK -> Errno.EIO;
            case BUSY, NAME_IN_USE -> Errno.EBUSY;
            case ROUND_TIMEOUT -> Errno.ETIMEDOUT;
            case JOB_STOPPED -> Errno.ECANCELED;
            case ROUND_CLOSED, LEARNER_FORGOTTEN, MODEL_CHANGED -> Errno.ESTALE;
            case ACCESS_DENIED -> Errno.EACCES;
            case WRONG_SHARD -> Errno.ENXIO;
        };
    }
}
