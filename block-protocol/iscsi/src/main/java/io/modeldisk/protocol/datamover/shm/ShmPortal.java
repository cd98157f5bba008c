package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.NoListenerException;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.platform.linux.UnixSocket;
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
 * Listens on a Unix socket for processes of its own user and of root: the rights of the directory keep others out, and the kernel
 * names the user of each connection. A socket without a listener is replaced; one with a listener is in use.
 */
public final class ShmPortal implements TargetPortal {
    /** The datamover's name. */
    public static final String NAME = "shm";

    /**
     * Listens at a target's {@linkplain SocketPath path} in a directory.
     *
     * @param directory created if it does not exist
     * @param limits of the mapped memory of initiators
     */
    public record Opener(Path directory, MappingLimits limits) implements TargetPortal.Opener {
        @Override
        public TargetPortal open(InetSocketAddress address, String targetName) throws IOException {
            if (address.getPort() == 0) {
                throw new IOException(
                    "the socket for shared memory is named after the target's port, which must not be 0");
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
    /** Closing the portal wakes the wait. */
    private static final int NO_TIMEOUT = -1;
    private static final int GROUP_OR_OTHERS_WRITE = 022;

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
     * Listens.
     *
     * @param path of {@link SocketPath}; its directory is created if it does not exist
     * @param address the TCP address of the same target, for SendTargets
     * @throws IOException if memory cannot be shared here, the directory is not safe, or the socket is in use, with the reason
     */
    public static ShmPortal listen(Path path, InetSocketAddress address, MappingLimits limits) throws IOException {
        SharedMemory.ensureAvailability();
        makeDirectory(path.getParent());
        refuseIfInUse(path);
        // Under another name until it is ready: a process that finds the socket can connect to it.
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
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS) || owner != user && owner != 0
            || (mode & GROUP_OR_OTHERS_WRITE) != 0) {
            throw new IOException("the socket's directory " + directory + " must be a directory of user " + user
                + " or root that nobody else may write to, here is user " + owner + ", mode %o".formatted(mode & 07777)
                + "; --shm-directory chooses another");
        }
    }

    private static void refuseIfInUse(Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            try (UnixSocket probe = UnixSocket.connect(path, PROBE_MS)) {
                throw new IOException("socket " + path + " is in use by process " + probe.peer().processId()
                    + ", which serves the same model at the same port; --shm-directory chooses another directory");
            } catch (NoListenerException e) {
                LOG.debug("no process listens at {}; its socket is replaced", path);
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

    /** Refuses other users, should the rights of the directory be changed. */
    private static String peerText(UnixSocket accepted) throws IOException {
        UnixSocket.Peer peer = accepted.peer();
        int user = Processes.effectiveUserId();
        if (peer.userId() != 0 && peer.userId() != user) {
            throw new IOException("process " + peer.processId() + " of user " + peer.userId()
                + " may not share memory with this server of user " + user);
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
            // If the file was removed, another server may have put its socket there.
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS) && file.equals(fileKey(path))) {
                Files.delete(path);
            }
        } catch (IOException e) {
            LOG.warn("could not remove socket {}: {}", path, e.toString());
        }
    }
}
