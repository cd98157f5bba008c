package io.modeldisk.platform.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ServiceManagerTest {
    private static final long PROCESS = 4711;

    @Test
    void socketAndWatchdogTimeAreReadFromTheEnvironment() {
        assertThat(ServiceManager.of(Map.of("NOTIFY_SOCKET", "/run/systemd/notify", "WATCHDOG_USEC", "30000000",
            "WATCHDOG_PID", "4711"), PROCESS))
            .contains(new ServiceManager("/run/systemd/notify", Duration.ofSeconds(30)));
    }

    @Test
    void watchdogTimeForAnotherProcessIsIgnored() {
        Map<String, String> environment = Map.of("NOTIFY_SOCKET", "@n", "WATCHDOG_USEC", "1000000", "WATCHDOG_PID",
            "1");
        assertThat(ServiceManager.of(environment, PROCESS)).contains(new ServiceManager("@n", Duration.ZERO));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "vsock:2:1234"})
    void environmentWithoutAUnixSocketContainsNoServiceManager(String socket) {
        assertThat(ServiceManager.of(Map.of("NOTIFY_SOCKET", socket), PROCESS)).isEqualTo(Optional.empty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "soon", "9999999999999999999"})
    void malformedWatchdogTimeIsIgnored(String time) {
        assertThat(ServiceManager.of(Map.of("NOTIFY_SOCKET", "/n", "WATCHDOG_USEC", time), PROCESS))
            .contains(new ServiceManager("/n", Duration.ZERO));
    }
}
