package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.linux.SocketMessage;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Mounts and unmounts for a normal user with the program fusermount3. The program runs as root and sends the descriptor of the
 * session over a socket (SCM_RIGHTS, unix(7)). posix_spawn(3) starts the program, because ProcessBuilder cannot pass a socket to
 * a child.
 */
public final class UserMount implements Unmounter {
    private static final Logger LOG = LogManager.getLogger(UserMount.class);
    private static final String HELPER = "fusermount3";
    private static final String SOCKET_VARIABLE = "_FUSE_COMMFD";
    private static final Duration HELPER_TIMEOUT = Duration.ofSeconds(10);

    /** Returns whether fusermount3 is installed. */
    public static boolean isAvailable() {
        return Processes.isInstalled(HELPER);
    }

    /** Mounts the directory. Returns the descriptor of the session. */
    public static int mount(Path directory, FuseOptions options) throws IOException {
        UnixSocket[] sockets = UnixSocket.pair();
        try (UnixSocket own = sockets[0]) {
            // This process must close its copy of the helper's socket before it receives. Otherwise, if the helper failed, the
            // receive would wait forever.
            try (UnixSocket helpers = sockets[1]) {
                helpers.letChildrenInherit();
                runHelper(directory, options, helpers.descriptor());
            }
            return receiveDescriptor(own, directory);
        }
    }

    /**
     * Runs fusermount3, which sends the descriptor. If fusermount3 fails, it writes the reason to standard error and sends no
     * descriptor.
     */
    private static void runHelper(Path directory, FuseOptions options, int socket) throws IOException {
        String text = options.libfuseOptions(Processes.effectiveUserId(), DataRequest.MAX_REQUEST_BYTES);
        List<String> environment = Stream.concat(Stream.of(SOCKET_VARIABLE + "=" + socket),
            System.getenv().entrySet().stream().filter(entry -> !entry.getKey().equals(SOCKET_VARIABLE))
                .map(entry -> entry.getKey() + "=" + entry.getValue()))
            .toList();
        Processes.runInheriting(List.of(HELPER, "-o", text, "--", directory.toString()), environment);
    }

    private static int receiveDescriptor(UnixSocket socket, Path directory) throws IOException {
        SocketMessage message = new SocketMessage(socket, ByteBuffer.allocateDirect(1));
        if (message.receive(0, 1) <= 0 || message.descriptorCount() == 0) {
            throw new IOException(
                "cannot mount " + directory + ": " + HELPER + " failed and wrote the reason to standard error");
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
                LOG.warn("{}; the kernel removes the mount when all files are closed", busy.getMessage());
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
                throw new IOException("cannot unmount " + directory + ": " + HELPER + " did not exit within "
                    + HELPER_TIMEOUT.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("unmounted " + directory);
        }
        if (process.exitValue() != 0) {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            throw new IOException("cannot unmount " + directory + ": " + said);
        }
    }
}
