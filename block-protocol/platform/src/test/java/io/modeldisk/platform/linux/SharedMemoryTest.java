package io.modeldisk.platform.linux;

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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class SharedMemoryTest {
    private static final int BYTES = 1 << 20;

    private long before;

    @BeforeEach
    void count() throws IOException {
        before = memfds();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        assertThat(memfds()).isEqualTo(before);
    }

    /** Returns the number of mappings and descriptors of this process that belong to memfds of SharedMemory. */
    private static long memfds() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            long open = descriptors.filter(SharedMemoryTest::isMemfd).count();
            List<String> maps = Files.readAllLines(Path.of("/proc/self/maps"));
            return open + maps.stream().filter(line -> line.contains("memfd:modeldisk")).count();
        }
    }

    private static boolean isMemfd(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("memfd:modeldisk");
        } catch (IOException e) {
            return false;
        }
    }

    private static int memfd(int seals) throws IOException {
        int descriptor = memfdWithoutPages(0);
        MemoryCalls.fallocate(descriptor, BYTES);
        MemoryCalls.fcntl(descriptor, MemoryCalls.F_ADD_SEALS, seals);
        return descriptor;
    }

    private static int memfdWithoutPages(int seals) throws IOException {
        int descriptor = MemoryCalls.memfdCreate("modeldisk",
            MemoryCalls.MFD_CLOEXEC | MemoryCalls.MFD_ALLOW_SEALING);
        MemoryCalls.ftruncate(descriptor, BYTES);
        MemoryCalls.fcntl(descriptor, MemoryCalls.F_ADD_SEALS, seals);
        return descriptor;
    }

    private static void assertRefused(int descriptor, long offset, String reason) {
        try (Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> SharedMemory.map(descriptor, offset, BYTES, arena))
                .isInstanceOf(IOException.class).hasMessageContaining(reason);
        } finally {
            Descriptors.close(descriptor);
        }
    }

    @Test
    void bothMappingsOfSharedMemoryShowTheSameBytes() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            SharedMemory.Mapping slab = SharedMemory.create(3 * 4096, arena);
            assertThat(slab.segment().mismatch(MemorySegment.ofArray(new byte[3 * 4096]))).isEqualTo(-1);
            MemorySegment other = SharedMemory.map(slab.descriptor(), 0, BYTES, arena);
            assertThat(other.byteSize()).isEqualTo(3 * 4096);
            slab.segment().set(ValueLayout.JAVA_LONG, 4096, 42);
            assertThat(other.get(ValueLayout.JAVA_LONG, 4096)).isEqualTo(42);
            other.set(ValueLayout.JAVA_LONG, 8192, 43);
            assertThat(slab.segment().get(ValueLayout.JAVA_LONG, 8192)).isEqualTo(43);
        }
    }

    @Test
    void ownerCannotShrinkSharedMemory() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            SharedMemory.Mapping slab = SharedMemory.create(BYTES, arena);
            assertThatThrownBy(() -> MemoryCalls.ftruncate(slab.descriptor(), 4096))
                .isInstanceOf(IOException.class).hasMessageContaining("not permitted");
        }
    }

    @Test
    void memoryWithoutAShrinkSealIsNotMapped() throws IOException {
        assertRefused(memfd(MemoryCalls.F_SEAL_GROW), 0, "F_SEAL_SHRINK");
    }

    @Test
    void memoryWithHolesIsNotMapped() throws IOException {
        assertRefused(memfdWithoutPages(MemoryCalls.F_SEAL_SHRINK), 0, "holes");
    }

    @Test
    void partOfSharedMemoryIsMappedUpToTheLimitOrTheLastPage() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            SharedMemory.Mapping slab = SharedMemory.create(3 * 4096 - 100, arena);
            assertThat(slab.segment().byteSize()).isEqualTo(3 * 4096);
            assertThat(SharedMemory.map(slab.descriptor(), 0, 8192, arena).byteSize()).isEqualTo(8192);
            MemorySegment last = SharedMemory.map(slab.descriptor(), 8192, BYTES, arena);
            assertThat(last.byteSize()).isEqualTo(4096);
            last.set(ValueLayout.JAVA_BYTE, 4095, (byte) 7);
            assertThat(slab.segment().get(ValueLayout.JAVA_BYTE, 3 * 4096 - 1)).isEqualTo((byte) 7);
        }
    }

    @Test
    void partThatDoesNotBeginAtAPageOfTheMemoryIsNotMapped() throws IOException {
        for (long offset : new long[]{-4096, 100, BYTES}) {
            assertRefused(memfd(MemoryCalls.F_SEAL_SHRINK), offset, "no part of it begins at byte " + offset);
        }
    }
}
