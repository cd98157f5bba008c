package io.modeldisk.mount.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FailureErrnoTest {
    private static ShardException failure(ShardException.Kind kind) {
        return new ShardException(kind, new ShardId(1, "127.0.0.1:3261"), "it failed");
    }

    @ParameterizedTest
    @CsvSource({"PATH_LOST,EIO", "JOB_STOPPED,ECANCELED", "LEARNER_FORGOTTEN,ESTALE", "ROUND_TIMEOUT,ETIMEDOUT",
        "BUSY,EBUSY",
        "ACCESS_DENIED,EACCES", "WRONG_SHARD,ENXIO", "MODEL_CHANGED,ESTALE"})
    void shardFailureHasTheErrorNumberOfItsKind(ShardException.Kind kind, Errno errno) {
        assertThat(FailureErrno.of(failure(kind))).isEqualTo(errno);
        assertThat(FailureErrno.of(new IOException("the push failed", failure(kind)))).isEqualTo(errno);
    }

    @Test
    void failureWithoutAShardExceptionMapsToEio() {
        assertThat(FailureErrno.of(new IOException("disk full"))).isEqualTo(Errno.EIO);
    }
}
