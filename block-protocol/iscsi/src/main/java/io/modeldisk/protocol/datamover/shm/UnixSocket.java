package io.modeldisk.protocol.datamover.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A stream socket between processes of this host (unix(7)). The descriptor is closed when it was told to and nobody uses it any
 * more, so that no call ever finds another file under its number. Thread-safe.
 */
final class UnixSocket implements AutoCloseable {
    private static final int PATH_BYTES = 108;
    private static final int FAMILY_BYTES = 2;
    private static final int POLL_BYTES = 8;
    private static final int CREDENTIALS_BYTES = 12;
    private static final int BACKLOG = 128;
    private static final int TYPE = SocketCalls.SOCK_STREAM | SocketCalls.SOCK_CLOEXEC | SocketCalls.SOCK_NONBLOCK;
    private static final long RETRY_NANOS = 1_000_000;

    private final int fd;
    private final AtomicInteger users = new AtomicInteger(1);
    private final AtomicBoolean closed = new AtomicBoolean();

    UnixSocket(int fd) {
        this.fd = fd;
    }

    /** Who is at the other end. */
    record Peer(int processId, int userId) {}

    /**
     * Connects.
     *
     * @throws IOException if nobody listens there, or takes the connection in time
     */
    static UnixSocket connect(Path path, long timeoutMillis) throws IOException {
        UnixSocket socket = new UnixSocket(check("socket", SocketCalls.socket(TYPE)));
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = address(path, arena);
            int result = SocketCalls.connect(socket.fd, address);
            // There is no waiting for a place in the line of those who want to be accepted, but to ask again.
            while ((result == -SocketCalls.EAGAIN || result == -SocketCalls.EINTR)
                && System.nanoTime() - deadline < 0) {
                LockSupport.parkNanos(RETRY_NANOS);
                result = SocketCalls.connect(socket.fd, address);
            }
            if (result == -SocketCalls.ENOENT || result == -SocketCalls.ECONNREFUSED) {
                throw new NobodyListensException(path + ": " + SocketCalls.text(-result));
            }
            check("connecting to " + path, result);
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Listens at a path where there is nothing yet. */
    static UnixSocket listen(Path path) throws IOException {
        UnixSocket socket = new UnixSocket(check("socket", SocketCalls.socket(TYPE)));
        try (Arena arena = Arena.ofConfined()) {
            check("listening on " + path, SocketCalls.bind(socket.fd, address(path, arena)));
            check("listening on " + path, SocketCalls.listen(socket.fd, BACKLOG));
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Two that are connected with each other. */
    static UnixSocket[] pair() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment descriptors = arena.allocate(JAVA_INT, 2);
            check("socketpair", SocketCalls.socketpair(TYPE, descriptors));
            return new UnixSocket[]{new UnixSocket(descriptors.getAtIndex(JAVA_INT, 0)),
                new UnixSocket(descriptors.getAtIndex(JAVA_INT, 1))};
        }
    }

    /** {@code struct sockaddr_un}. */
    private static MemorySegment address(Path path, Arena arena) throws IOException {
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        if (name.length >= PATH_BYTES) {
            throw new IOException("the socket's path " + path + " has " + name.length + " bytes, the limit is "
                + (PATH_BYTES - 1) + ": choose a shorter directory");
        }
        MemorySegment address = arena.allocate(FAMILY_BYTES + PATH_BYTES, Long.BYTES);
        address.set(JAVA_SHORT, 0, (short) SocketCalls.AF_UNIX);
        MemorySegment.copy(name, 0, address, ValueLayout.JAVA_BYTE, FAMILY_BYTES, name.length);
        return address;
    }

    /** The next connection; null if none comes within the time. */
    UnixSocket accept(int timeoutMillis) throws IOException {
        if (!enter()) {
            throw new ClosedChannelException();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment poll = arena.allocate(POLL_BYTES, Integer.BYTES);
            poll.set(JAVA_INT, 0, fd);
            poll.set(JAVA_SHORT, Integer.BYTES, SocketCalls.POLLIN);
            SocketCalls.poll(arena.allocate(SocketCalls.STATE), poll.address(), 1, timeoutMillis);
            int accepted = SocketCalls.accept(fd, SocketCalls.SOCK_CLOEXEC | SocketCalls.SOCK_NONBLOCK);
            return accepted == -SocketCalls.EAGAIN || accepted == -SocketCalls.EINTR
                ? null
                : new UnixSocket(check("accept", accepted));
        } finally {
            leave();
        }
    }

    /** Who is at the other end, as the kernel says. */
    Peer peer() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment credentials = arena.allocate(CREDENTIALS_BYTES, Integer.BYTES);
            MemorySegment length = arena.allocateFrom(JAVA_INT, CREDENTIALS_BYTES);
            check("asking who is there", SocketCalls.getsockopt(fd, SocketCalls.SOL_SOCKET, SocketCalls.SO_PEERCRED,
                credentials, length));
            return new Peer(credentials.getAtIndex(JAVA_INT, 0), credentials.getAtIndex(JAVA_INT, 1));
        }
    }

    /** The descriptor, for a call between {@link #enter} and {@link #leave}. */
    int descriptor() {
        return fd;
    }

    /** Begins to use the descriptor; false if it is closed. */
    boolean enter() {
        while (true) {
            int now = users.get();
            if (now == 0) {
                return false;
            }
            if (users.compareAndSet(now, now + 1)) {
                return true;
            }
        }
    }

    /** Ends using the descriptor. */
    void leave() {
        if (users.decrementAndGet() == 0) {
            SocketCalls.close(fd);
        }
    }

    /** Ends one direction, or wakes who waits for it. */
    void shutdown(int how) {
        if (enter()) {
            SocketCalls.shutdown(fd, how);
            leave();
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            leave();
        }
    }

    static int check(String what, int result) throws IOException {
        if (result < 0) {
            throw new IOException(what + ": " + SocketCalls.text(-result));
        }
        return result;
    }
}
