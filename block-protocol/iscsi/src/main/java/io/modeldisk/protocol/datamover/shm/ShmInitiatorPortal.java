package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.NoListenerException;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;

/**
 * Connects to a target on this host over shared memory.
 *
 * @param path the path of the target's socket, as {@link SocketPath} defines it
 */
public record ShmInitiatorPortal(Path path) implements InitiatorPortal {
    private static final long PROBE_MS = 1000;

    @Override
    public String datamover() {
        return ShmPortal.NAME;
    }

    @Override
    public boolean needsShareableMemory() {
        return true;
    }

    @Override
    public String obstacle() {
        if (!SharedMemory.isAvailable()) {
            return SharedMemory.unavailabilityCause();
        }
        try (UnixSocket probe = UnixSocket.connect(path, PROBE_MS)) {
            checkServer(probe);
            return null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    @Override
    public InitiatorDatamover connect(
        InitiatorDatamover.Numbering numbering, int queueDepth, long timeoutMs, NanoClock clock) throws IOException {
        SharedMemory.ensureAvailability();
        UnixSocket socket;
        try {
            socket = UnixSocket.connect(path, timeoutMs);
        } catch (NoListenerException e) {
            throw new IOException("the target does not respond over shared memory at " + e.getMessage()
                + "; is `modeldisk serve --datamover shm` running on this host, as the same user?", e);
        }
        try {
            return new ShmInitiatorDatamover(socket, "process " + checkServer(socket), numbering, clock);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Checks that the server may read the shared memory of this process. Returns the server's process id. */
    private int checkServer(UnixSocket socket) throws IOException {
        UnixSocket.Peer server = socket.peer();
        checkUser(path, Processes.effectiveUserId(), server.userId());
        return server.processId();
    }

    /**
     * Checks that the server at a socket runs as the same user or as root. Root also accepts the users to whom it gave the
     * directory: its owner, and the user that has the name of its group, such as {@code modeldisk}. Other members of that group
     * can create sockets in the directory too, and must not receive root's gradients.
     */
    static void checkUser(Path path, int user, int server) throws IOException {
        int owner = (int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        if (server != owner) {
            throw new IOException("the server at the socket " + path + " runs as user " + server
                + ", but the socket belongs to user " + owner + "; end that server, or remove the socket");
        }
        if (server == 0 || server == user) {
            return;
        }
        if (user != 0) {
            throw new IOException("the server at the socket runs as user " + server
                + ", but this process runs as user " + user + "; run both as the same user");
        }
        Path directory = path.toAbsolutePath().getParent();
        String group = Files.readAttributes(directory, PosixFileAttributes.class).group().getName();
        boolean given = (int) Files.getAttribute(directory, "unix:uid") == server
            || Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName().equals(group);
        if (!given) {
            throw new IOException("the server at the socket " + path + " runs as user " + server
                + ", but root shares memory only with root, the owner of the socket's directory, and user " + group
                + "; run the server as one of them, or choose another directory with --shm-directory");
        }
    }
}
