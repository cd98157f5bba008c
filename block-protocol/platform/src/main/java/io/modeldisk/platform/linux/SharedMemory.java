package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that another process of this host can map. The memory is a memfd (memfd_create(2)). Its size is sealed, because a
 * process that shrinks the memory could crash another process. Thread-safe.
 */
public final class SharedMemory {
    /** The reason why shared memory is not available, or null if shared memory is available. */
    private static final String CAUSE = missing();

    private static final long STAT_BLOCK_BYTES = 512;

    private SharedMemory() {}

    private static String missing() {
        if (!System.getProperty("os.name").equals("Linux") || ADDRESS.byteSize() != Long.BYTES) {
            return "shared memory needs a 64-bit Linux, but this system is " + System.getProperty("os.name") + " on "
                + System.getProperty("os.arch");
        }
        for (String name : new String[]{"memfd_create", "statx"}) {
            if (CLibrary.find(name).isEmpty()) {
                return "the C library has no function " + name;
            }
        }
        return null;
    }

    /** Returns whether this machine supports shared memory. */
    public static boolean isAvailable() {
        return CAUSE == null;
    }

    /** Returns the reason why this machine does not support shared memory, or null if shared memory is supported. */
    public static String unavailabilityCause() {
        return CAUSE;
    }

    /** Throws an {@link IOException} with the reason if this machine does not support shared memory. */
    public static void ensureAvailability() throws IOException {
        if (CAUSE != null) {
            throw new IOException("this process cannot share memory with another process: " + CAUSE);
        }
    }

    /** A mapped memfd and its descriptor. The segment consists of whole pages; the memfd can end within the last page. */
    public record Mapping(MemorySegment segment, int descriptor) {}

    /**
     * Marks this process with a name that other processes can read in /proc/PID/fd: the name of an empty memfd.
     *
     * @return the descriptor of the memfd, which the caller closes to remove the mark
     */
    public static int mark(String name) throws IOException {
        ensureAvailability();
        return MemoryCalls.memfdCreate(name, MemoryCalls.MFD_CLOEXEC);
    }

    /**
     * Creates shared memory that contains zeros, and allocates all its pages. Closing the arena unmaps the memory and closes the
     * descriptor.
     *
     * @param bytes the size of the memfd
     */
    public static Mapping create(long bytes, Arena arena) throws IOException {
        ensureAvailability();
        int descriptor = MemoryCalls.memfdCreate("modeldisk", MemoryCalls.MFD_CLOEXEC | MemoryCalls.MFD_ALLOW_SEALING);
        try {
            MemoryCalls.ftruncate(descriptor, bytes);
            MemoryCalls.fcntl(descriptor, MemoryCalls.F_ADD_SEALS,
                MemoryCalls.F_SEAL_SHRINK | MemoryCalls.F_SEAL_GROW | MemoryCalls.F_SEAL_SEAL);
            return new Mapping(allocated(descriptor, bytes, arena), descriptor);
        } catch (IOException | RuntimeException | Error e) {
            Descriptors.close(descriptor);
            throw e;
        }
    }

    /**
     * Maps a new memfd, and allocates all its pages. If pages were missing and no memory were left, the kernel would send this
     * process a signal in the middle of a copy.
     */
    private static MemorySegment allocated(int descriptor, long fileBytes, Arena arena) throws IOException {
        long bytes = Pages.whole(fileBytes);
        long address = MemoryCalls.mmap(bytes, MemoryCalls.MAP_SHARED, descriptor, 0);
        try {
            if (!Pages.allocate(address, bytes)) {
                MemoryCalls.fallocate(descriptor, fileBytes);
            }
        } catch (IOException | RuntimeException | Error e) {
            MemoryCalls.unmap(address, bytes);
            throw e;
        }
        return segment(address, bytes, arena, () -> Descriptors.close(descriptor));
    }

    /**
     * Maps a part of the memory that another process created. First checks that the memory cannot harm this process. The caller
     * keeps the descriptor, and can close it after the call. Closing the arena unmaps the memory.
     *
     * @param offset the start of the part, a multiple of the page size
     * @param maxBytes the maximum size of the part; the part ends earlier if the memory ends earlier
     * @throws IOException if the memory does not reach beyond {@code offset}, has an unsealed size, lacks pages or is not a
     *     memfd; the message states the reason
     */
    public static MemorySegment map(int descriptor, long offset, long maxBytes, Arena arena) throws IOException {
        ensureAvailability();
        long bytes = checkedSize(descriptor);
        if (offset < 0 || offset >= bytes || offset % Pages.BYTES != 0) {
            throw new IOException(
                "the shared memory has a size of " + bytes + " bytes, so no part of it begins at byte "
                    + offset);
        }
        long mappedBytes = Math.min(maxBytes, Pages.whole(bytes - offset));
        long address = MemoryCalls.mmap(mappedBytes, MemoryCalls.MAP_SHARED | MemoryCalls.MAP_POPULATE, descriptor,
            offset);
        return segment(address, mappedBytes, arena, () -> {});
    }

    /**
     * Maps the whole memory that another process created, and takes over the descriptor. Closing the arena unmaps the memory and
     * closes the descriptor.
     *
     * @throws IOException as for {@link #map}; the caller then keeps the descriptor
     */
    public static Mapping adopt(int descriptor, Arena arena) throws IOException {
        ensureAvailability();
        long bytes = Pages.whole(checkedSize(descriptor));
        long address = MemoryCalls.mmap(bytes, MemoryCalls.MAP_SHARED | MemoryCalls.MAP_POPULATE, descriptor, 0);
        return new Mapping(segment(address, bytes, arena, () -> Descriptors.close(descriptor)), descriptor);
    }

    private static long checkedSize(int descriptor) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(MemoryCalls.STATUS_BYTES, Long.BYTES);
            MemoryCalls.fstatfs(descriptor, status);
            // A memfd with huge pages is refused, because an access to a missing huge page could kill this process.
            if (status.get(JAVA_LONG, MemoryCalls.STATFS_TYPE) != MemoryCalls.TMPFS_MAGIC) {
                throw new IOException("the shared memory is not a memfd with ordinary pages");
            }
            int seals = MemoryCalls.fcntl(descriptor, MemoryCalls.F_GET_SEALS, 0);
            if ((seals & MemoryCalls.F_SEAL_SHRINK) == 0) {
                throw new IOException("the size of the shared memory is not sealed (F_SEAL_SHRINK): seals=" + seals);
            }
            MemoryCalls.statx(descriptor, status);
            long bytes = status.get(JAVA_LONG, MemoryCalls.STATX_SIZE);
            long allocatedBytes = status.get(JAVA_LONG, MemoryCalls.STATX_BLOCKS) * STAT_BLOCK_BYTES;
            if (allocatedBytes < bytes) {
                // The first access to a hole allocates a page, which counts against the memory limit of the accessing process,
                // so the holes of a peer could use up the memory limit of this process.
                throw new IOException(
                    "the shared memory has holes: only " + allocatedBytes + " of " + bytes + " bytes are allocated");
            }
            return bytes;
        }
    }

    // The restricted call is safe: the segment has the address and the length of a mapping that exists as long as the arena.
    @SuppressWarnings("restricted")
    private static MemorySegment segment(long address, long bytes, Arena arena, Runnable afterUnmap) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, _ -> {
            MemoryCalls.unmap(address, bytes);
            afterUnmap.run();
        });
    }
}
