package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.NoListenerException;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.datamover.TargetPortal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Listens on a Unix socket for processes of the server's user and of root. The permissions of the directory exclude other users,
 * and the kernel reports the user of each connection. A new portal replaces a socket file that an ended process has
 * left. If a process still listens at the socket, opening the portal fails.
 */
public final class ShmPortal implements TargetPortal {
    /** The datamover's name. */
    public static final String NAME = "shm";

    /**
     * Opens a portal at a target's {@linkplain SocketPath path} in a directory.
     *
     * @param directory the directory of the sockets, which is created if it does not exist
     * @param limits the limits for the memory that the server maps from initiators
     */
    public record Opener(Path directory, MappingLimits limits) implements TargetPortal.Opener {
        @Override
        public TargetPortal open(InetSocketAddress address, String targetName) throws IOException {
            if (address.getPort() == 0) {
                throw new IOException(
                    "the target's port must not be 0, because the name of the shm socket contains the port;"
                        + " choose a port with --listen HOST:PORT");
            }
            return listen(SocketPath.of(directory, targetName, address.getPort()), address, limits);
        }

        @Override
        public String toString() {
            return NAME + ":" + directory;
        }
    }

    private static final Logger LOG = LogManager.getLogger(ShmPortal.class);
    private static final long PROBE_MS = 1000;
    /** The wait for a connection has no timeout. {@link #close} ends the wait. */
    private static final int NO_TIMEOUT = -1;
    private static final int GROUP_WRITE = 020;
    private static final int OTHERS_WRITE = 02;
    private static final int STICKY = 01000;

    private final UnixSocket socket;
    private final Path path;
    private final Object file;
    private final InetSocketAddress address;
    private final MappingLimits limits;
    private volatile boolean closed;

    private ShmPortal(UnixSocket socket, Path path, InetSocketAddress address, MappingLimits limits)
        throws IOException {
        this.socket = socket;
        this.path = path;
        this.file = fileKey(path);
        this.address = address;
        this.limits = limits;
    }

    /**
     * Opens a portal that listens at a socket.
     *
     * @param path the path of the socket, as {@link SocketPath} defines it. The directory of the path is created if it does not
     *     exist
     * @param address the TCP address of the same target, for SendTargets
     * @throws IOException if this machine cannot share memory, the directory is not safe, or the socket is in use. The message
     *     contains the reason
     */
    public static ShmPortal listen(Path path, InetSocketAddress address, MappingLimits limits) throws IOException {
        SharedMemory.ensureAvailability();
        makeDirectory(path.getParent());
        refuseIfInUse(path);
        // The socket gets its final name only when it is ready. A process that finds the final name can therefore connect.
        Path fresh = path.resolveSibling(path.getFileName() + "." + ProcessHandle.current().pid());
        Files.deleteIfExists(fresh);
        UnixSocket socket = UnixSocket.listen(fresh);
        try {
            Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rw-------"));
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return new ShmPortal(socket, path, address, limits);
        } catch (IOException | RuntimeException e) {
            socket.close();
            Files.deleteIfExists(fresh);
            throw e;
        }
    }

    private static void makeDirectory(Path directory) throws IOException {
        if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectories(directory.getParent());
            Files.createDirectory(directory,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        int owner = (int) Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        int mode = (int) Files.getAttribute(directory, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        int user = Processes.effectiveUserId();
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            throw unsafe(directory, Files.isSymbolicLink(directory) ? "is a symbolic link" : "is not a directory");
        }
        if (owner != user && owner != 0) {
            throw unsafe(directory, "belongs to user " + owner + ", but it must belong to user " + user + " or root");
        }
        // In a directory with the sticky bit, such as the one of the package, the group cannot replace sockets of other users.
        if ((mode & OTHERS_WRITE) != 0 || (mode & GROUP_WRITE) != 0 && (mode & STICKY) == 0) {
            throw unsafe(directory, PlainText.format("has mode %o, so other users can write to it", mode & 07777));
        }
    }

    private static IOException unsafe(Path directory, String reason) {
        return new IOException("the socket's directory " + directory + " " + reason
            + "; choose another directory with --shm-directory");
    }

    private static void refuseIfInUse(Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            try (UnixSocket probe = UnixSocket.connect(path, PROBE_MS)) {
                throw new IOException("socket " + path + " is in use by process " + probe.peer().processId()
                    + ", which serves the same model at the same port; choose another directory with --shm-directory");
            } catch (NoListenerException e) {
                LOG.debug("no process listens at the socket {}; the socket is replaced", path);
            }
        }
    }

    @Override
    public String datamover() {
        return NAME;
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public IncomingConnection accept() throws IOException {
        while (!closed) {
            UnixSocket accepted = awaitConnection();
            if (accepted == null) {
                continue;
            }
            try {
                Incoming incoming = new Incoming(accepted, peerText(accepted), address, limits);
                accepted = null;
                return incoming;
            } finally {
                if (accepted != null) {
                    accepted.close();
                }
            }
        }
        throw new ClosedChannelException();
    }

    private UnixSocket awaitConnection() throws IOException {
        try {
            return socket.accept(NO_TIMEOUT);
        } catch (IOException e) {
            if (closed) {
                throw new ClosedChannelException();
            }
            throw e;
        }
    }

    /**
     * Returns the peer's name for messages. Refuses peers of other users. Such peers can connect only after a change of the
     * directory's permissions.
     */
    private static String peerText(UnixSocket accepted) throws IOException {
        UnixSocket.Peer peer = accepted.peer();
        int user = Processes.effectiveUserId();
        if (peer.userId() != 0 && peer.userId() != user) {
            throw new IOException("process " + peer.processId() + " runs as user " + peer.userId()
                + ", but only processes of user " + user + " or root may share memory with this server");
        }
        return "process " + peer.processId();
    }

    private record Incoming(UnixSocket socket, String peer, InetSocketAddress localAddress, MappingLimits limits)
        implements
            IncomingConnection {
        @Override
        public InetAddress peerAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public TargetDatamover open(TargetDatamover.Numbering numbering, int slots, NanoClock clock) {
            return new ShmTargetDatamover(socket, peer, numbering, limits, clock);
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    private static Object fileKey(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).fileKey();
    }

    @Override
    public String toString() {
        return path.toString();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        socket.shutdown(UnixSocket.SHUT_RD);
        socket.close();
        try {
            // Another server might have replaced the file with its own socket. That socket must not be deleted.
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS) && file.equals(fileKey(path))) {
                Files.delete(path);
            }
        } catch (IOException e) {
            LOG.warn("cannot remove the socket {}: {}", path, e.toString());
        }
    }
}
