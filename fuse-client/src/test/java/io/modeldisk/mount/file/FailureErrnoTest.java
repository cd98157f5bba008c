package io.modeldisk.mount.file;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class FailureErrnoTest {
    private static final Map<ShardException.Kind, Errno> ERRNOS = Map.ofEntries(
        entry(ShardException.Kind.PATH_LOST, Errno.EIO),
        entry(ShardException.Kind.REFUSED, Errno.EIO),
        entry(ShardException.Kind.CLOSED, Errno.EIO),
        entry(ShardException.Kind.WENT_BACK, Errno.EIO),
        entry(ShardException.Kind.BUSY, Errno.EBUSY),
        entry(ShardException.Kind.NAME_IN_USE, Errno.EBUSY),
        entry(ShardException.Kind.ROUND_TIMEOUT, Errno.ETIMEDOUT),
        entry(ShardException.Kind.JOB_STOPPED, Errno.ECANCELED),
        entry(ShardException.Kind.ROUND_CLOSED, Errno.ESTALE),
        entry(ShardException.Kind.LEARNER_FORGOTTEN, Errno.ESTALE),
        entry(ShardException.Kind.MODEL_CHANGED, Errno.ESTALE),
        entry(ShardException.Kind.ACCESS_DENIED, Errno.EACCES),
        entry(ShardException.Kind.WRONG_SHARD, Errno.ENXIO));

    private static ShardException failure(ShardException.Kind kind) {
        return new ShardException(kind, new ShardId(1, "127.0.0.1:3261"), "it failed");
    }

    @ParameterizedTest
    @EnumSource
    void shardFailureHasTheErrorNumberOfItsKind(ShardException.Kind kind) {
        assertThat(ERRNOS).containsKey(kind);
        assertThat(FailureErrno.of(failure(kind))).isEqualTo(ERRNOS.get(kind));
        assertThat(FailureErrno.of(new IOException("the push failed", failure(kind)))).isEqualTo(ERRNOS.get(kind));
    }

    @Test
    void failureWithoutAShardExceptionMapsToEio() {
        assertThat(FailureErrno.of(new IOException("disk full"))).isEqualTo(Errno.EIO);
    }
}
