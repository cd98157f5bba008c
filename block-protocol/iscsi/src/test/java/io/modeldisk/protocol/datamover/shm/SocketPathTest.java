package io.modeldisk.protocol.datamover.shm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SocketPathTest {
    /** A service of root and a session of root find each other's sockets, although only the session has XDG_RUNTIME_DIR. */
    @ParameterizedTest
    @CsvSource({"0, , /run/modeldisk", "0, /run/user/0, /run/modeldisk",
        "1000, /run/user/1000, /run/user/1000/modeldisk",
        "1000, '', /tmp/modeldisk-1000", "1000, , /tmp/modeldisk-1000"})
    void defaultDirectoryDependsOnTheUser(int user, String runtime, String expected) {
        assertThat(SocketPath.defaultDirectory(user, runtime)).hasToString(expected);
    }
}
