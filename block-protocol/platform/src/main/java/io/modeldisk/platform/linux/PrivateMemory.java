package io.modeldisk.platform.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory outside the Java heap that only this process uses. Thread-safe. */
public final class PrivateMemory {
    /**
     * The minimum size of large memory, which is mapped. Smaller memory comes from the C library, which often has free memory
     * already.
     */
    private static final long LARGE_BYTES = 2 << 20;

    private PrivateMemory() {}

    /**
     * Allocates memory that contains zeros. If the memory is large, allocates all its pages at once. Closing the arena frees the
     * memory.
     *
     * @param bytes the size, more than 0; the size of large memory is rounded up to whole pages
     * @return the memory, which starts at a page boundary
     * @throws OutOfMemoryError if the machine does not have enough free memory
     */
    public static MemorySegment allocate(long bytes, Arena arena) {
        if (bytes < LARGE_BYTES || !SharedMemory.isAvailable()) {
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

    // The restricted call is safe: the segment has the address and the length of a mapping that exists as long as the arena.
    @SuppressWarnings("restricted")
    private static MemorySegment mapped(long bytes, Arena arena) throws IOException {
        long address = MemoryCalls.mmap(bytes, MemoryCalls.MAP_PRIVATE | MemoryCalls.MAP_ANONYMOUS, -1, 0);
        MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(bytes, arena,
            _ -> MemoryCalls.unmap(address, bytes));
        if (!Pages.allocate(address, bytes)) {
            memory.fill((byte) 0);
        }
        return memory;
    }
}
