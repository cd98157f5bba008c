package io.modeldisk.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class MachineTest {
    private final Machine machine = new Machine();

    /** A file in /proc/sys returns data only for the first read. */
    @Test
    void fileInProcSysIsReadCompletely() {
        assertThat(machine.text(Path.of("/proc/sys/kernel/pid_max")).orElseThrow()).matches("\\d{4,}\n");
    }

    @Test
    void missingFileProgramOrLibraryIsReportedAsMissing() {
        assertThat(machine.text(Path.of("/proc/none"))).isEmpty();
        assertThat(machine.names(Path.of("/proc/none"))).isEmpty();
        assertThat(machine.exists(Path.of("/proc/none"))).isFalse();
        assertThat(machine.opens(Path.of("/proc/none"))).isFalse();
        assertThat(machine.hasProgram("no-such-program")).isFalse();
        assertThat(machine.hasLibrary("libnone.so.1")).isFalse();
    }

    @Test
    void existingFileProgramOrLibraryIsFound() {
        assertThat(machine.opens(Path.of("/dev/null"))).isTrue();
        assertThat(machine.hasProgram("sh")).isTrue();
        assertThat(machine.hasLibrary("libc.so.6")).isTrue();
        assertThat(machine.hasModule("java.base")).isTrue();
        assertThat(machine.names(Path.of("/proc/self/fd"))).isNotEmpty();
    }
}
