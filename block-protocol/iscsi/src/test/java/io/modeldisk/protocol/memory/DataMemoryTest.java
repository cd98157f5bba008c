package io.modeldisk.protocol.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.linux.SharedMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class DataMemoryTest {
    private static final long PETABYTE = 1L << 50;

    @Test
    void shareableMemoryIsZeroedAndCanBeMappedByDescriptor() throws IOException {
        try (DataMemory memory = DataMemory.allocateShareable(3 * 4096); Arena arena = Arena.ofConfined()) {
            assertThat(memory.isShareable()).isTrue();
            assertThat(memory.slab(0).mismatch(MemorySegment.ofArray(new byte[3 * 4096]))).isEqualTo(-1);
            MemorySegment other = SharedMemory.map(memory.descriptor(), 0, 1 << 20, arena);
            other.set(ValueLayout.JAVA_LONG, 8192, 43);
            assertThat(memory.slab(8192).get(ValueLayout.JAVA_LONG, 8192)).isEqualTo(43);
        }
    }

    @Test
    void shareableMemoryEndsWithTheLastPageOfItsFile() throws IOException {
        try (DataMemory memory = DataMemory.allocateShareable(3 * 4096 + 4)) {
            assertThat(memory.bytes()).isEqualTo(4 * 4096);
            assertThat(memory.bytesLeftInSlab(0)).isEqualTo(4 * 4096);
            assertThat(Files.size(Path.of("/proc/self/fd/" + memory.descriptor()))).isEqualTo(3 * 4096 + 4);
        }
    }

    @Test
    void shareableAllocationAboveTheLimitReportsRequestedAndAvailableMemory() {
        assertThatThrownBy(() -> DataMemory.allocateShareable(PETABYTE)).isInstanceOf(IOException.class)
            .hasMessageContaining("1125899906842624 bytes").hasMessageContaining("GiB available");
    }
}
