package io.modeldisk.protocol.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class SharedMemoryTest {
    private static final int BYTES = 1 << 20;

    /** The mappings and descriptors of this process that are memfds of ours. */
    private static long left() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            long open = descriptors.filter(SharedMemoryTest::isOurs).count();
            List<String> maps = Files.readAllLines(Path.of("/proc/self/maps"));
            return open + maps.stream().filter(line -> line.contains("memfd:modeldisk")).count();
        }
    }

    private static boolean isOurs(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("memfd:modeldisk");
        } catch (IOException e) {
            return false;
        }
    }

    private static int memfd(int seals) throws IOException {
        int descriptor = MemoryCalls.memfdCreate("modeldisk",
            MemoryCalls.MFD_CLOEXEC | MemoryCalls.MFD_ALLOW_SEALING);
        MemoryCalls.ftruncate(descriptor, BYTES);
        MemoryCalls.fallocate(descriptor, BYTES);
        MemoryCalls.fcntl(descriptor, MemoryCalls.F_ADD_SEALS, seals);
        return descriptor;
    }

    @Test
    void bothMappingsShowTheSameBytes() throws IOException {
        long before = left();
        try (DataMemory memory = DataMemory.allocateShareable(3 * 4096); Arena arena = Arena.ofConfined()) {
            assertThat(memory.isShareable()).isTrue();
            assertThat(memory.slab(0).mismatch(MemorySegment.ofArray(new byte[3 * 4096]))).isEqualTo(-1);
            MemorySegment other = SharedMemory.map(memory.descriptor(0), BYTES, arena);
            assertThat(other.byteSize()).isEqualTo(3 * 4096);
            memory.slab(0).set(ValueLayout.JAVA_LONG, 4096, 42);
            assertThat(other.get(ValueLayout.JAVA_LONG, 4096)).isEqualTo(42);
            other.set(ValueLayout.JAVA_LONG, 8192, 43);
            assertThat(memory.slab(8192).get(ValueLayout.JAVA_LONG, 8192)).isEqualTo(43);
        }
        assertThat(left()).isEqualTo(before);
    }

    @Test
    void ownerCannotCutItShortAnyMore() throws IOException {
        try (DataMemory memory = DataMemory.allocateShareable(BYTES)) {
            assertThatThrownBy(() -> MemoryCalls.ftruncate(memory.descriptor(0), 4096))
                .isInstanceOf(IOException.class).hasMessageContaining("not permitted");
        }
    }

    @Test
    void memoryThatItsOwnerCouldCutShortIsRefused() throws IOException {
        long before = left();
        int descriptor = memfd(MemoryCalls.F_SEAL_GROW);
        try (Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> SharedMemory.map(descriptor, BYTES, arena))
                .isInstanceOf(IOException.class).hasMessageContaining("F_SEAL_SHRINK");
        }
        MemoryCalls.close(descriptor);
        assertThat(left()).isEqualTo(before);
    }

    @Test
    void memoryWithHolesIsRefused() throws IOException {
        int descriptor = MemoryCalls.memfdCreate("modeldisk",
            MemoryCalls.MFD_CLOEXEC | MemoryCalls.MFD_ALLOW_SEALING);
        MemoryCalls.ftruncate(descriptor, BYTES);
        MemoryCalls.fcntl(descriptor, MemoryCalls.F_ADD_SEALS, MemoryCalls.F_SEAL_SHRINK);
        try (Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> SharedMemory.map(descriptor, BYTES, arena))
                .isInstanceOf(IOException.class).hasMessageContaining("holes");
        }
        MemoryCalls.close(descriptor);
    }

    @Test
    void memoryAboveTheLimitIsRefused() throws IOException {
        int descriptor = memfd(MemoryCalls.F_SEAL_SHRINK);
        try (Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> SharedMemory.map(descriptor, BYTES - 1, arena))
                .isInstanceOf(IOException.class).hasMessageContaining("size of 1048576 bytes");
        }
        MemoryCalls.close(descriptor);
    }

    @Test
    void shareableMemoryOfMoreThanThereIsFailsInWords() throws IOException {
        long before = left();
        assertThatThrownBy(() -> DataMemory.allocateShareable(1L << 50))
            .isInstanceOf(IOException.class).hasMessageContaining("1125899906842624 bytes");
        assertThat(left()).isEqualTo(before);
    }
}
