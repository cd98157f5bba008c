package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that another process of this host can map: a memfd (memfd_create(2)) whose size is sealed, so that no process can
 * shrink it and so cause a fault in another one. Thread-safe.
 */
public final class SharedMemory {
    /** Null if nothing is missing. */
    private static final String CAUSE = missing();

    private static final long STAT_BLOCK_BYTES = 512;

    private SharedMemory() {}

    private static String missing() {
        if (!System.getProperty("os.name").equals("Linux") || ADDRESS.byteSize() != Long.BYTES) {
            return "it needs a 64-bit Linux, here is " + System.getProperty("os.name");
        }
        for (String name : new String[]{"memfd_create", "statx"}) {
            if (CLibrary.find(name).isEmpty()) {
                return "the C library has no " + name;
            }
        }
        return null;
    }

    /** Whether this machine has it. */
    public static boolean isAvailable() {
        return CAUSE == null;
    }

    /** The reason why this machine does not have it; null if it has. */
    public static String unavailabilityCause() {
        return CAUSE;
    }

    /** Throws an {@link IOException} with the reason if this machine does not have it. */
    public static void ensureAvailability() throws IOException {
        if (CAUSE != null) {
            throw new IOException("no memory can be shared with another process: " + CAUSE);
        }
    }

    /** A mapping and its descriptor. */
    public record Slab(MemorySegment segment, int descriptor) {}

    /** Makes zeroed memory with all its pages; it and its descriptor go with the arena. */
    public static Slab create(long bytes, Arena arena) throws IOException {
        ensureAvailability();
        int descriptor = MemoryCalls.memfdCreate("modeldisk", MemoryCalls.MFD_CLOEXEC | MemoryCalls.MFD_ALLOW_SEALING);
        try {
            MemoryCalls.ftruncate(descriptor, bytes);
            // Without its pages, a machine out of memory would report that by a signal in the middle of a copy.
            MemoryCalls.fallocate(descriptor, bytes);
            MemoryCalls.fcntl(descriptor, MemoryCalls.F_ADD_SEALS,
                MemoryCalls.F_SEAL_SHRINK | MemoryCalls.F_SEAL_GROW | MemoryCalls.F_SEAL_SEAL);
            return new Slab(mapped(descriptor, bytes, arena, descriptor), descriptor);
        } catch (IOException | RuntimeException e) {
            Descriptors.close(descriptor);
            throw e;
        }
    }

    /**
     * Maps memory that another process made, after a check that it cannot harm this process. The descriptor stays the caller's,
     * who may close it at once; the mapping goes with the arena.
     *
     * @param maxBytes the largest size that is mapped
     * @throws IOException if it is not a memfd with a sealed size and all its pages, or is larger; says which
     */
    public static MemorySegment map(int descriptor, long maxBytes, Arena arena) throws IOException {
        ensureAvailability();
        return mapped(descriptor, checkedSize(descriptor, maxBytes), arena, -1);
    }

    private static long checkedSize(int descriptor, long maxBytes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(MemoryCalls.STATUS_BYTES, Long.BYTES);
            MemoryCalls.fstatfs(descriptor, status);
            // A huge page (MFD_HUGETLB) may be missing at its first access, which would be a signal in this process.
            if (status.get(JAVA_LONG, MemoryCalls.STATFS_TYPE) != MemoryCalls.TMPFS_MAGIC) {
                throw new IOException("it is no memfd of ordinary pages");
            }
            int seals = MemoryCalls.fcntl(descriptor, MemoryCalls.F_GET_SEALS, 0);
            if ((seals & MemoryCalls.F_SEAL_SHRINK) == 0) {
                throw new IOException("its size is not sealed (F_SEAL_SHRINK): seals=" + seals);
            }
            MemoryCalls.statx(descriptor, status);
            long bytes = status.get(JAVA_LONG, MemoryCalls.STATX_SIZE);
            if (bytes <= 0 || bytes > maxBytes) {
                throw new IOException("its size of " + bytes + " bytes must be from 1 to " + maxBytes);
            }
            long allocatedBytes = status.get(JAVA_LONG, MemoryCalls.STATX_BLOCKS) * STAT_BLOCK_BYTES;
            if (allocatedBytes < bytes) {
                // The first access to a hole allocates its page on account of the process that makes it.
                throw new IOException("it has holes: " + allocatedBytes + " of its " + bytes + " bytes are allocated");
            }
            return bytes;
        }
    }

    // The address and the length are those of the mapping, which only the arena ends.
    @SuppressWarnings("restricted")
    private static MemorySegment mapped(int descriptor, long bytes, Arena arena, int ownDescriptor) throws IOException {
        long address = MemoryCalls.mmap(bytes, MemoryCalls.MAP_SHARED | MemoryCalls.MAP_POPULATE, descriptor);
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, _ -> {
            try {
                MemoryCalls.munmap(address, bytes);
            } catch (IOException e) {
                throw new IllegalStateException("memory could not be unmapped", e);
            }
            if (ownDescriptor >= 0) {
                Descriptors.close(ownDescriptor);
            }
        });
    }
}
