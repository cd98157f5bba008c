package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AvailableMemoryTest {
    private static final long MIB = 1 << 20;

    @TempDir
    private Path directory;

    private AvailableMemory memory(String meminfo, String... group) throws IOException {
        Path file = Files.writeString(directory.resolve("meminfo"), meminfo);
        for (int i = 0; i < group.length; i += 2) {
            Files.writeString(directory.resolve(group[i]), group[i + 1]);
        }
        return AvailableMemory.of(file, directory);
    }

    @Test
    void theMachinesMemoryIsTheLimit() throws IOException {
        AvailableMemory memory = memory("MemTotal: 9999999 kB\nMemAvailable:    1024 kB\n");
        assertThatCode(() -> memory.require(MIB, "x")).doesNotThrowAnyException();
        assertThatThrownBy(() -> memory.require(MIB + 1, "exchange overlap")).isInstanceOf(IOException.class)
            .hasMessageContaining("exchange overlap needs 0.00 GiB").hasMessageContaining("overlap four times");
    }

    @Test
    void theControlGroupsMemoryIsTheLimitAndItsCacheDoesNotCount() throws IOException {
        AvailableMemory memory = memory("MemAvailable: 99999999 kB\n", "memory.max", "3145728\n", "memory.current",
            "2097152\n", "memory.stat", "anon 5\ninactive_file 1048576\n");
        assertThatCode(() -> memory.require(2 * MIB, "x")).doesNotThrowAnyException();
        assertThatThrownBy(() -> memory.require(2 * MIB + 1, "x")).isInstanceOf(IOException.class);
    }

    @Test
    void aGroupWithoutALimitAndAMachineThatDoesNotTellHaveAnyAmount() throws IOException {
        assertThatCode(() -> memory("nothing\n", "memory.max", "max\n").require(Long.MAX_VALUE, "x"))
            .doesNotThrowAnyException();
    }
}
