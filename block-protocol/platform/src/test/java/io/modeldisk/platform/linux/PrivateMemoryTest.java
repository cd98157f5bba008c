package io.modeldisk.platform.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.Test;

final class PrivateMemoryTest {
    private static final int BYTES = 5 << 20;
    private static final long PETABYTE = 1L << 50;

    /** Returns the number of resident bytes of the mapping that contains an address; 0 if no mapping contains the address. */
    private static long residentBytes(long address) throws IOException {
        boolean within = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                List<Long> range = List.of(line.split(" ")[0].split("-")).stream()
                    .map(end -> Long.parseUnsignedLong(end, 16)).toList();
                within = address >= range.get(0) && address < range.get(1);
            } else if (within && line.startsWith("Rss:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        return 0;
    }

    @Test
    void memoryContainsZerosAndBeginsAtAPage() {
        try (Arena arena = Arena.ofConfined()) {
            for (int bytes : new int[]{1, 4097, BYTES, BYTES + 1}) {
                MemorySegment memory = PrivateMemory.allocate(bytes, arena);
                assertThat(memory.asSlice(0, bytes).mismatch(MemorySegment.ofArray(new byte[bytes]))).isEqualTo(-1);
                assertThat(memory.address() % 4096).isZero();
            }
        }
    }

    @Test
    void largeMemoryHasAllItsPagesUntilTheArenaIsClosed() throws IOException {
        long address;
        try (Arena arena = Arena.ofConfined()) {
            address = PrivateMemory.allocate(BYTES, arena).address();
            assertThat(residentBytes(address)).isGreaterThanOrEqualTo(BYTES);
        }
        assertThat(residentBytes(address)).isLessThan(BYTES);
    }

    @Test
    void allocationRunsNoTasksInTheForkJoinPoolOfItsCaller() {
        try (ForkJoinPool pool = new ForkJoinPool(4)) {
            int threads = pool.submit(() -> {
                try (Arena arena = Arena.ofConfined()) {
                    PrivateMemory.allocate(256 << 20, arena);
                    return pool.getPoolSize();
                }
            }).join();
            assertThat(threads).isOne();
        }
    }

    @Test
    void allocationBeyondTheMemoryOfTheMachineThrowsAnOutOfMemoryError() {
        try (Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> PrivateMemory.allocate(PETABYTE, arena)).isInstanceOf(OutOfMemoryError.class)
                .hasMessageContaining("Cannot allocate memory");
        }
    }

    @Test
    void failedAllocationOfAPageIsReportedAsALackOfMemory() throws IOException {
        int descriptor = MemoryCalls.memfdCreate("modeldisk", MemoryCalls.MFD_CLOEXEC);
        long address = MemoryCalls.mmap(2L * Pages.BYTES, MemoryCalls.MAP_SHARED, descriptor, 0);
        try {
            MemoryCalls.ftruncate(descriptor, Pages.BYTES);
            assertThatThrownBy(() -> Pages.allocate(address, 2L * Pages.BYTES)).isInstanceOf(IOException.class)
                .hasMessageContaining("cannot allocate 8192 bytes of memory: Cannot allocate memory");
        } finally {
            MemoryCalls.unmap(address, 2L * Pages.BYTES);
            Descriptors.close(descriptor);
        }
    }
}
