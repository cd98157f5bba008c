package io.modeldisk.command.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.linux.NoListenerException;
import io.modeldisk.platform.linux.ServiceManager;
import io.modeldisk.test.ServiceMessages;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the messages to a service manager, which the tests receive from a real socket. */
@Timeout(60)
final class ServiceNoticesTest {
    private static final Duration WATCHDOG = Duration.ofMillis(100);

    private String path;

    @BeforeEach
    void choosePath(@TempDir Path directory) {
        path = directory.resolve("notify").toString();
    }

    private ServiceNotices notices(String socket) {
        return new ServiceNotices(Optional.of(new ServiceManager(socket, WATCHDOG)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a path", "an abstract name"})
    void progressIsSentAfterTheReadyLine(String kind) throws IOException {
        String socket = kind.equals("a path") ? path : "@modeldisk-" + UUID.randomUUID();
        try (ServiceMessages messages = ServiceMessages.at(socket); ServiceNotices notices = notices(socket)) {
            notices.ready("ready: größer", () -> "round 7");
            assertThat(messages.next())
                .isEqualTo("READY=1\nMAINPID=" + ProcessHandle.current().pid() + "\nSTATUS=größer");
            assertThat(messages.next()).isEqualTo("WATCHDOG=1\nSTATUS=größer; round 7");
        }
    }

    @Test
    void workWithoutProgressDoesNotFeedTheWatchdog() throws IOException {
        AtomicBoolean stuck = new AtomicBoolean(true);
        try (ServiceMessages messages = ServiceMessages.at(path); ServiceNotices notices = notices(path)) {
            notices.ready("ready: here", () -> {
                if (stuck.get()) {
                    throw new IOException("no thread serves");
                }
                return "continues";
            });
            messages.next();
            assertThat(messages.next()).isEqualTo("STATUS=here; no progress: no thread serves");
            assertThat(messages.next()).doesNotContain("WATCHDOG=1");
            stuck.set(false);
            assertThat(messages.awaitMessage("WATCHDOG=1")).endsWith("STATUS=here; continues");
        }
    }

    @Test
    void processWithoutWorkFeedsTheWatchdog() throws IOException {
        try (ServiceMessages messages = ServiceMessages.at(path); ServiceNotices notices = notices(path)) {
            notices.ready("standby: waits", null);
            messages.next();
            assertThat(messages.next()).isEqualTo("WATCHDOG=1\nSTATUS=standby: waits");
        }
    }

    @Test
    void lastMessageAnnouncesTheStop() throws IOException {
        try (ServiceMessages messages = ServiceMessages.at(path)) {
            try (ServiceNotices notices = notices(path)) {
                notices.ready("ready: here", () -> "round 7");
                notices.stopping();
            }
            assertThat(messages.awaitMessage("STOPPING=1")).isEqualTo("STOPPING=1\nSTATUS=stops");
        }
    }

    @Test
    void errorNamesTheSocketWithoutAReceiver() {
        assertThatThrownBy(() -> new ServiceManager(path, WATCHDOG).tell("READY=1"))
            .isInstanceOf(NoListenerException.class).hasMessageContaining(path);
    }
}
