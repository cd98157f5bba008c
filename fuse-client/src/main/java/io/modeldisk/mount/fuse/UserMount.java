package io.modeldisk.mount.fuse;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Mounts and unmounts as a user: fusermount3, which belongs to root, does it and sends the session's descriptor over a socket
 * (SCM_RIGHTS, unix(7)). ProcessBuilder cannot hand a socket to a child, so the child is started by posix_spawn(3).
 */
final class UserMount implements Unmounter {
    private static final Logger LOG = LogManager.getLogger(UserMount.class);
    private static final String HELPER = "fusermount3";
    private static final String SOCKET_VARIABLE = "_FUSE_COMMFD";
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int MESSAGE_HEADER_BYTES = 56;
    private static final int CONTROL_BYTES = 24;
    private static final int CONTROL_DATA = 16;
    private static final long HELPER_TIMEOUT_S = 10;

    private static final MethodHandle SOCKETPAIR = LinuxCalls.handle("socketpair",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    // Returns its error number instead of setting errno.
    private static final MethodHandle POSIX_SPAWNP = LinuxCalls.handle("posix_spawnp",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
    private static final MethodHandle WAITPID = LinuxCalls.handle("waitpid",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle RECVMSG = LinuxCalls.handle("recvmsg",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));

    /** Whether fusermount3 is installed. */
    static boolean isAvailable() {
        String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
        return Stream.of(path.split(":")).anyMatch(folder -> Files.isExecutable(Path.of(folder, HELPER)));
    }

    /** Mounts and returns the session's descriptor. */
    static int mount(Path directory, boolean allowOther) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment sockets = arena.allocate(JAVA_INT, 2);
            int made = LinuxCalls.call(SOCKETPAIR, AF_UNIX, SOCK_STREAM, 0, sockets);
            if (made < 0) {
                throw new IOException("no socket for " + HELPER + ": " + Errno.nameOf(-made));
            }
            int own = sockets.get(JAVA_INT, 0);
            int child = sockets.get(JAVA_INT, Integer.BYTES);
            try {
                spawnAndWait(arena, directory, allowOther, child);
            } finally {
                // Then, when the helper has sent nothing, the receive below ends instead of waiting.
                LinuxCalls.close(child);
            }
            try {
                return receiveDescriptor(arena, own, directory);
            } finally {
                LinuxCalls.close(own);
            }
        }
    }

    private static void spawnAndWait(Arena arena, Path directory, boolean allowOther, int socket) throws IOException {
        String options = "fsname=modeldisk,subtype=modeldisk,default_permissions"
            + (allowOther ? ",allow_other" : "") + ",max_read=" + Transfer.MAX_REQUEST_BYTES;
        MemorySegment arguments = strings(arena, List.of(HELPER, "-o", options, "--", directory.toString()));
        MemorySegment environment = strings(arena, Stream.concat(Stream.of(SOCKET_VARIABLE + "=" + socket),
            System.getenv().entrySet().stream().filter(entry -> !entry.getKey().equals(SOCKET_VARIABLE))
                .map(entry -> entry.getKey() + "=" + entry.getValue()))
            .toList());
        MemorySegment processId = arena.allocate(JAVA_INT);
        int error = LinuxCalls.call(POSIX_SPAWNP, processId, HELPER, MemorySegment.NULL, MemorySegment.NULL, arguments,
            environment);
        if (error != 0) {
            throw new IOException(HELPER + " cannot be started: " + Errno.nameOf(Math.abs(error)));
        }
        // It says why it fails on standard error; whether it failed shows in what it sent.
        LinuxCalls.call(WAITPID, processId.get(JAVA_INT, 0), MemorySegment.NULL, 0);
    }

    /** {@code struct msghdr} and {@code struct cmsghdr} as every 64-bit Linux has them. */
    private static int receiveDescriptor(Arena arena, int socket, Path directory) throws IOException {
        MemorySegment part = arena.allocate(2 * Long.BYTES, Long.BYTES);
        part.set(ADDRESS, 0, arena.allocate(1));
        part.set(JAVA_LONG, Long.BYTES, 1);
        MemorySegment control = arena.allocate(CONTROL_BYTES, Long.BYTES);
        MemorySegment message = arena.allocate(MESSAGE_HEADER_BYTES, Long.BYTES);
        message.set(ADDRESS, 16, part);
        message.set(JAVA_LONG, 24, 1);
        message.set(ADDRESS, 32, control);
        message.set(JAVA_LONG, 40, CONTROL_BYTES);
        int received = LinuxCalls.call(RECVMSG, socket, message, MSG_CMSG_CLOEXEC);
        if (received <= 0 || message.get(JAVA_LONG, 40) < CONTROL_DATA + Integer.BYTES) {
            throw new IOException(
                "cannot mount " + directory + ": " + HELPER + " refused; its own line above says why");
        }
        return control.get(JAVA_INT, CONTROL_DATA);
    }

    private static MemorySegment strings(Arena arena, List<String> values) {
        MemorySegment array = arena.allocate(ADDRESS, values.size() + 1L);
        for (int i = 0; i < values.size(); i++) {
            array.setAtIndex(ADDRESS, i, arena.allocateFrom(values.get(i)));
        }
        return array;
    }

    @Override
    public void unmount(Path directory) throws IOException {
        helper(directory, "-u");
    }

    @Override
    public void unmountForGood(Path directory) {
        try {
            helper(directory, "-u");
        } catch (IOException busy) {
            try {
                helper(directory, "-u", "-z");
                LOG.warn("{}: it ends when the last process that has a file open there closes it", busy.getMessage());
            } catch (IOException e) {
                LOG.warn(e.getMessage());
            }
        }
    }

    private static void helper(Path directory, String... options) throws IOException {
        List<String> command = Stream.of(Stream.of(HELPER), Stream.of(options), Stream.of("--", directory.toString()))
            .flatMap(all -> all)
            .toList();
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            if (!process.waitFor(HELPER_TIMEOUT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IOException("cannot unmount " + directory + ": " + HELPER + " did not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while unmounting " + directory, e);
        }
        if (process.exitValue() != 0) {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            throw new IOException("cannot unmount " + directory + ": " + said);
        }
    }
}
