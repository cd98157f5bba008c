package io.modeldisk.platform.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory outside the Java heap that only this process uses. Thread-safe. */
public final class PrivateMemory {
    private PrivateMemory() {}

    /**
     * Allocates memory that contains zeros, with all its pages. Closing the arena frees the memory.
     *
     * @param bytes the size, more than 0; large memory is rounded up to whole pages
     * @return the memory, which begins at a page
     * @throws OutOfMemoryError if the machine does not have enough free memory
     */
    public static MemorySegment allocate(long bytes, Arena arena) {
        // The C library takes small memory from memory that it has already.
        if (bytes < Pages.HUGE_BYTES || !SharedMemory.isAvailable()) {
            return arena.allocate(bytes, Pages.BYTES);
        }
        try {
            return mapped(Pages.whole(bytes), arena);
        } catch (IOException e) {
            OutOfMemoryError error = new OutOfMemoryError(e.getMessage());
            error.initCause(e);
            throw error;
        }
    }

    // The restricted call is safe: the segment lies in a mapping that exists as long as the arena.
    @SuppressWarnings("restricted")
    private static MemorySegment mapped(long bytes, Arena arena) throws IOException {
        // The addresses before and behind the memory cost nothing. They let it begin at a huge page.
        long mappedBytes = bytes + Pages.HUGE_BYTES;
        long address = MemoryCalls.mmap(mappedBytes, MemoryCalls.MAP_PRIVATE | MemoryCalls.MAP_ANONYMOUS, -1, 0);
        long start = (address + Pages.HUGE_BYTES - 1) / Pages.HUGE_BYTES * Pages.HUGE_BYTES;
        try {
            if (!Pages.allocate(start, bytes)) {
                MemorySegment.ofAddress(start).reinterpret(bytes).fill((byte) 0);
            }
            return MemorySegment.ofAddress(start).reinterpret(bytes, arena,
                _ -> MemoryCalls.unmap(address, mappedBytes));
        } catch (IOException | RuntimeException e) {
            MemoryCalls.unmap(address, mappedBytes);
            throw e;
        }
    }
}
