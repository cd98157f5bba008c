package io.modeldisk.mount.fuse;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class FailureLogTest {
    private final List<String> recorded = new ArrayList<>();
    private final FailureLog log = new FailureLog(NanoClock.SYSTEM, failure -> {
        recorded.add(failure.getMessage());
        return Errno.ETIMEDOUT;
    });

    private Errno answerTo(Throwable failure) {
        return log.answerTo(() -> "fsync of model", failure, false);
    }

    @ParameterizedTest
    @EnumSource(names = {"EBUSY", "EINVAL", "EPERM", "EACCES", "EOPNOTSUPP", "ENODATA"})
    void refusalIsRecordedAndKeepsItsErrorNumber(Errno errno) {
        assertThat(answerTo(new ErrnoException(errno, "the reason"))).isEqualTo(errno);
        assertThat(recorded).containsExactly("the reason");
    }

    @ParameterizedTest
    @EnumSource(names = {"ENOENT", "ENOTDIR", "ENAMETOOLONG", "EINTR"})
    void failureThatIsPartOfNormalUseIsNotRecorded(Errno errno) {
        assertThat(answerTo(new ErrnoException(errno, "the mount has no file 'x'"))).isEqualTo(errno);
        assertThat(recorded).isEmpty();
    }

    @Test
    void failedRequestToTheShardsGetsTheErrorNumberThatTheFileSystemReturns() {
        assertThat(answerTo(new IOException("shard 0 does not respond"))).isEqualTo(Errno.ETIMEDOUT);
        assertThat(recorded).containsExactly("shard 0 does not respond");
    }

    @Test
    void cancelledRequestIsNotRecorded() {
        assertThat(log.answerTo(() -> "fsync of model", new IOException("it was cancelled"), true))
            .isEqualTo(Errno.EINTR);
        assertThat(recorded).isEmpty();
    }

    @Test
    void defectOfTheProgramIsRecorded() {
        assertThat(answerTo(new IllegalStateException("a test simulates a defect"))).isEqualTo(Errno.EIO);
        assertThat(recorded).singleElement().asString().contains("error in modeldisk", "a test simulates a defect");
    }
}
