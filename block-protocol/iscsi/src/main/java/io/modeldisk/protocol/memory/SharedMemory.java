package io.modeldisk.protocol.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Memory that another process of this host can map: a memfd (memfd_create(2)) whose size is sealed, so that no process can make
 * another one fault by cutting it short.
 */
public final class SharedMemory {
    /** What is missing; null if nothing is. */
    private static final String CAUSE = MemoryCalls.missing();

    private static final long STAT_BLOCK_BYTES = 512;
    private static final Path MEMORY_INFORMATION = Path.of("/proc/meminfo");
    private static final Pattern AVAILABLE = Pattern.compile("MemAvailable: +([0-9]{1,15}) kB");

    private SharedMemory() {}

    /** Whether this machine has it. */
    public static boolean isAvailable() {
        return CAUSE == null;
    }

    /** Why it does not, in words; null if it has. */
    public static String unavailabilityCause() {
        return CAUSE;
    }

    /**
     * Does nothing if this machine has it.
     *
     * @throws IOException that says what is missing
     */
    public static void ensureAvailability() throws IOException {
        if (CAUSE != null) {
            throw new IOException("no memory can be shared with another process: " + CAUSE);
        }
    }

    /** A mapping and the descriptor that names it. */
    record Slab(MemorySegment segment, int descriptor) {}

    /**
     * Checks that the machine has so much memory left: asked for more, it would not refuse but kill processes.
     *
     * @throws IOException in words if it has not
     */
    static void ensureRoom(long bytes) throws IOException {
        for (String line : Files.readAllLines(MEMORY_INFORMATION)) {
            Matcher available = AVAILABLE.matcher(line);
            if (available.matches() && bytes > Long.parseLong(available.group(1)) << 10) {
                throw new IOException("the machine has " + (Long.parseLong(available.group(1)) << 10) + " available");
            }
        }
    }

    /** Makes zeroed memory, all of it there at once; it and its descriptor go with the arena. */
    static Slab create(long bytes, Arena arena) throws IOException {
        ensureAvailability();
        int descriptor = MemoryCalls.memfdCreate("modeldisk", MemoryCalls.MFD_CLOEXEC | MemoryCalls.MFD_ALLOW_SEALING);
        try {
            MemoryCalls.ftruncate(descriptor, bytes);
            // Otherwise a machine that is out of memory would say so with a signal, in the middle of a copy.
            MemoryCalls.fallocate(descriptor, bytes);
            MemoryCalls.fcntl(descriptor, MemoryCalls.F_ADD_SEALS,
                MemoryCalls.F_SEAL_SHRINK | MemoryCalls.F_SEAL_GROW | MemoryCalls.F_SEAL_SEAL);
            return new Slab(mapped(descriptor, bytes, arena, descriptor), descriptor);
        } catch (IOException | RuntimeException e) {
            closeDescriptor(descriptor);
            throw e;
        }
    }

    /**
     * Maps what another process has made, after checking that it cannot harm this one. The descriptor stays the caller's, who
     * may close it at once; the mapping goes with the arena.
     *
     * @param maxBytes the most that is mapped
     * @throws IOException if it is not a memfd whose size is sealed and whose pages are all there, or is larger, in words
     */
    public static MemorySegment map(int descriptor, long maxBytes, Arena arena) throws IOException {
        ensureAvailability();
        return mapped(descriptor, checkedSize(descriptor, maxBytes), arena, -1);
    }

    private static long checkedSize(int descriptor, long maxBytes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(MemoryCalls.STATUS_BYTES, Long.BYTES);
            MemoryCalls.fstatfs(descriptor, status);
            // Huge pages (MFD_HUGETLB) can run out when they are touched, which would be this process's fault signal.
            if (status.get(ValueLayout.JAVA_LONG, MemoryCalls.STATFS_TYPE) != MemoryCalls.TMPFS_MAGIC) {
                throw new IOException("it is no memfd of ordinary pages");
            }
            int seals = MemoryCalls.fcntl(descriptor, MemoryCalls.F_GET_SEALS, 0);
            if ((seals & MemoryCalls.F_SEAL_SHRINK) == 0) {
                throw new IOException("its size is not sealed (F_SEAL_SHRINK): seals=" + seals);
            }
            MemoryCalls.statx(descriptor, status);
            long bytes = status.get(ValueLayout.JAVA_LONG, MemoryCalls.STATX_SIZE);
            if (bytes <= 0 || bytes > maxBytes) {
                throw new IOException("its size of " + bytes + " bytes must be from 1 to " + maxBytes);
            }
            long there = status.get(ValueLayout.JAVA_LONG, MemoryCalls.STATX_BLOCKS) * STAT_BLOCK_BYTES;
            if (there < bytes) {
                // Whoever touches a hole first pays for the page: let that be its owner.
                throw new IOException("it has holes: " + there + " of its " + bytes + " bytes are there");
            }
            return bytes;
        }
    }

    // The address and the length are those of the mapping, which the arena alone ends.
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
                closeDescriptor(ownDescriptor);
            }
        });
    }

    private static void closeDescriptor(int descriptor) {
        try {
            MemoryCalls.close(descriptor);
        } catch (IOException e) {
            throw new IllegalStateException("a descriptor of this class was closed by somebody else", e);
        }
    }
}
