package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.linux.SocketMessage;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Mounts and unmounts as a user with fusermount3, a program that runs as root and sends the session's descriptor over a socket
 * (SCM_RIGHTS, unix(7)). ProcessBuilder cannot pass a socket to a child, so posix_spawn(3) starts it.
 */
final class UserMount implements Unmounter {
    private static final Logger LOG = LogManager.getLogger(UserMount.class);
    private static final String HELPER = "fusermount3";
    private static final String SOCKET_VARIABLE = "_FUSE_COMMFD";
    private static final Duration HELPER_TIMEOUT = Duration.ofSeconds(10);

    /** Whether fusermount3 is installed. */
    static boolean isAvailable() {
        String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
        return Stream.of(path.split(":")).anyMatch(folder -> Files.isExecutable(Path.of(folder, HELPER)));
    }

    /** Mounts and returns the session's descriptor. */
    static int mount(Path directory, boolean allowOther) throws IOException {
        UnixSocket[] sockets = UnixSocket.pair();
        try (UnixSocket own = sockets[0]) {
            // Closed before the receive, so that the receive ends if the helper has sent nothing.
            try (UnixSocket helpers = sockets[1]) {
                helpers.letChildrenInherit();
                runHelper(directory, allowOther, helpers.descriptor());
            }
            return receiveDescriptor(own, directory);
        }
    }

    /** The helper writes the reason of a failure to standard error; whether it failed shows in what it sent. */
    private static void runHelper(Path directory, boolean allowOther, int socket) throws IOException {
        String options = "fsname=modeldisk,subtype=modeldisk,default_permissions"
            + (allowOther ? ",allow_other" : "") + ",max_read=" + DataRequest.MAX_REQUEST_BYTES;
        List<String> environment = Stream.concat(Stream.of(SOCKET_VARIABLE + "=" + socket),
            System.getenv().entrySet().stream().filter(entry -> !entry.getKey().equals(SOCKET_VARIABLE))
                .map(entry -> entry.getKey() + "=" + entry.getValue()))
            .toList();
        Processes.runInheriting(List.of(HELPER, "-o", options, "--", directory.toString()), environment);
    }

    private static int receiveDescriptor(UnixSocket socket, Path directory) throws IOException {
        SocketMessage message = new SocketMessage(socket, ByteBuffer.allocateDirect(1));
        if (message.receive(0, 1) <= 0 || message.descriptorCount() == 0) {
            throw new IOException(
                "cannot mount " + directory + ": " + HELPER + " refused; the line above has its reason");
        }
        return message.descriptor(0);
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
            if (!FutureWait.isDoneWithin(process.onExit(), HELPER_TIMEOUT, NanoClock.SYSTEM)) {
                process.destroyForcibly();
                throw new IOException("cannot unmount " + directory + ": " + HELPER + " did not end within "
                    + HELPER_TIMEOUT.toSeconds() + " s");
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
