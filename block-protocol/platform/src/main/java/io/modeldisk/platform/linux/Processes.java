package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Returns the user, the group, the environment and the memory of this process, and starts child processes that inherit file
 * descriptors. {@link ProcessBuilder} cannot pass descriptors to a child. Thread-safe.
 */
public final class Processes {
    private static final int PR_SET_TIMERSLACK = 29;

    private Processes() {}

    /** Returns whether a program is in a directory of PATH. */
    public static boolean isInstalled(String program) {
        String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
        return Stream.of(path.split(":")).anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    /** Returns the value of an environment variable without surrounding blanks; null if it is not set or empty. */
    public static String environment(String name) {
        String value = System.getenv(name);
        return value == null || value.isBlank() ? null : value.strip();
    }

    public static int effectiveUserId() {
        return CLibrary.call("geteuid");
    }

    public static int effectiveGroupId() {
        return CLibrary.call("getegid");
    }

    /**
     * Makes the kernel end timed waits of the calling thread without the default delay of up to 50 µs (timer slack). The calling
     * thread must be a platform thread.
     */
    public static void shortPauses() {
        CLibrary.call("prctl", PR_SET_TIMERSLACK, 1);
    }

    /** Returns this process's memory in RAM, including shared memory, in bytes; 0 if the kernel does not report it. */
    public static long residentBytes() {
        return Math.max(0, TextFile.number(Path.of("/proc/self/status"), "VmRSS:")) << 10;
    }

    /**
     * Runs a program and waits until the program has exited. Ignores the exit status. The program inherits all descriptors
     * without the flag FD_CLOEXEC.
     *
     * @param command the program, found on the PATH, and its arguments
     * @param environment all environment variables of the program, as {@code NAME=VALUE}
     * @throws IOException if the program cannot be started
     */
    public static void runInheriting(List<String> command, List<String> environment) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment processId = arena.allocate(JAVA_INT);
            // posix_spawnp returns an error number instead of setting errno.
            long error = Math.abs(CLibrary.call("posix_spawnp", processId, command.getFirst(), MemorySegment.NULL,
                MemorySegment.NULL, strings(arena, command), strings(arena, environment)));
            if (error != 0) {
                throw new IOException(
                    "the program " + command.getFirst() + " cannot be started: " + Errno.nameOf(error));
            }
            long ended;
            do {
                ended = CLibrary.call("waitpid", processId.get(JAVA_INT, 0), MemorySegment.NULL, 0);
            } while (Errno.EINTR.is(ended));
        }
    }

    private static MemorySegment strings(Arena arena, List<String> values) {
        MemorySegment array = arena.allocate(ADDRESS, values.size() + 1L);
        for (int i = 0; i < values.size(); i++) {
            array.setAtIndex(ADDRESS, i, arena.allocateFrom(values.get(i)));
        }
        return array;
    }
}
