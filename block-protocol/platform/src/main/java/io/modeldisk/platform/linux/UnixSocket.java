package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A socket between processes of this host (unix(7)): a non-blocking stream socket, or one end of a datagram socket. After
 * {@link #close()}, the descriptor stays open until the last call that uses it has returned. Otherwise, a call could use another
 * file that has received the same descriptor number. Thread-safe.
 */
public final class UnixSocket implements AutoCloseable {
    /** The argument of {@link #shutdown} that stops receiving. */
    public static final int SHUT_RD = 0;
    /** The argument of {@link #shutdown} that stops sending. */
    public static final int SHUT_WR = 1;

    static final int SOL_SOCKET = 1;
    static final short POLLIN = 1;
    static final short POLLOUT = 4;
    /** The size of struct pollfd. Its first member is the descriptor. */
    static final int POLL_BYTES = 8;
    private static final CLibrary.Function POLL = CLibrary.functionForInt("poll");
    private static final int POLL_EVENTS = 4;
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int SO_PEERCRED = 17;
    private static final int SO_SNDTIMEO = 21;
    private static final int F_SETFD = 2;
    private static final int PATH_BYTES = 108;
    private static final int FAMILY_BYTES = 2;
    private static final int CREDENTIALS_BYTES = 12;
    private static final int TIME_BYTES = 16;
    private static final int BACKLOG = 128;
    private static final int TYPE = SOCK_STREAM | SOCK_NONBLOCK;

    private final int descriptor;
    private final AtomicInteger users = new AtomicInteger(1);
    private final AtomicBoolean closed = new AtomicBoolean();

    private UnixSocket(int descriptor) {
        this.descriptor = descriptor;
    }

    /** The peer process of a connection, as the kernel reports it. */
    public record Peer(int processId, int userId) {}

    /**
     * Connects to a listener. If the queue of the listener is full, waits for a free slot.
     *
     * @param timeoutMs the maximum wait in milliseconds, more than 0
     * @throws NoListenerException if no process listens at the path
     * @throws IOException if the queue of the listener stays full until the timeout has passed, or the connection fails
     */
    public static UnixSocket connect(Path path, long timeoutMs) throws IOException {
        // The socket is blocking until it is connected, because the kernel waits for a free slot only on a blocking socket.
        UnixSocket socket = connect(SOCK_STREAM, path.toString(), timeoutMs);
        try {
            Errno.check("cannot set O_NONBLOCK of a socket",
                Descriptors.fcntl(socket.descriptor, Descriptors.F_SETFL, Descriptors.O_NONBLOCK));
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Creates a datagram socket that sends to the socket with this name. A send waits at most {@code timeoutMs} for room in the
     * queue of the receiver, and then fails with EAGAIN.
     *
     * @param name a path; with {@code @} as its first character, a name in the abstract namespace of Linux
     * @param timeoutMs the maximum wait in milliseconds, more than 0
     * @throws NoListenerException if no process receives at the name
     */
    public static UnixSocket connectDatagram(String name, long timeoutMs) throws IOException {
        return connect(SOCK_DGRAM, name, timeoutMs);
    }

    /**
     * Creates a non-blocking datagram socket that receives at a name.
     *
     * @param name a path that does not exist yet, or an abstract name as in {@link #connectDatagram}
     */
    public static UnixSocket receiveDatagrams(String name) throws IOException {
        UnixSocket socket = create(SOCK_DGRAM | SOCK_NONBLOCK);
        try (Arena arena = Arena.ofConfined()) {
            Errno.check("cannot receive at " + name, bind(socket, address(name, arena)));
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private static UnixSocket create(int type) throws IOException {
        return new UnixSocket(
            (int) Errno.check("cannot create a socket", CLibrary.call("socket", AF_UNIX, type | SOCK_CLOEXEC, 0)));
    }

    private static int bind(UnixSocket socket, MemorySegment address) {
        return CLibrary.call("bind", socket.descriptor, address, address.byteSize());
    }

    private static UnixSocket connect(int type, String name, long timeoutMs) throws IOException {
        UnixSocket socket = create(type);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(TIME_BYTES, Long.BYTES);
            time.set(JAVA_LONG, 0, timeoutMs / 1000);
            time.set(JAVA_LONG, Long.BYTES, TimeUnit.MILLISECONDS.toMicros(timeoutMs % 1000));
            Errno.check("cannot set SO_SNDTIMEO of a socket",
                CLibrary.call("setsockopt", socket.descriptor, SOL_SOCKET, SO_SNDTIMEO, time, TIME_BYTES));
            MemorySegment address = address(name, arena);
            int result;
            do {
                result = CLibrary.call("connect", socket.descriptor, address, address.byteSize());
            } while (Errno.EINTR.is(result));
            if (Errno.ENOENT.is(result) || Errno.ECONNREFUSED.is(result)) {
                throw new NoListenerException(name + ": " + Errno.text(-result));
            }
            if (Errno.EAGAIN.is(result)) {
                throw new IOException("cannot connect to " + name + ": the listener accepted no connection within "
                    + timeoutMs + " ms");
            }
            Errno.check("cannot connect to " + name, result);
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Creates a socket that listens at a path. The path must not exist yet. */
    public static UnixSocket listen(Path path) throws IOException {
        UnixSocket socket = create(TYPE);
        try (Arena arena = Arena.ofConfined()) {
            Errno.check("cannot listen on " + path,
                bind(socket, address(path.toString(), arena)));
            Errno.check("cannot listen on " + path, CLibrary.call("listen", socket.descriptor, BACKLOG));
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Creates two sockets that are connected with each other. */
    public static UnixSocket[] pair() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment descriptors = arena.allocate(JAVA_INT, 2);
            Errno.check("cannot create a pair of sockets",
                CLibrary.call("socketpair", AF_UNIX, TYPE | SOCK_CLOEXEC, 0, descriptors));
            return new UnixSocket[]{new UnixSocket(descriptors.getAtIndex(JAVA_INT, 0)),
                new UnixSocket(descriptors.getAtIndex(JAVA_INT, 1))};
        }
    }

    /** Returns a {@code struct sockaddr_un} for the path. */
    private static MemorySegment address(String socketName, Arena arena) throws IOException {
        byte[] name = socketName.getBytes(StandardCharsets.UTF_8);
        if (name.length >= PATH_BYTES) {
            throw new IOException("the socket path " + socketName + " has " + name.length + " bytes, but the limit is "
                + (PATH_BYTES - 1) + "; choose a directory with a shorter path");
        }
        boolean isAbstract = socketName.startsWith("@");
        // Every byte of an abstract address belongs to the name, so the address ends directly after the name. A path ends with a
        // zero byte.
        MemorySegment address = arena.allocate(FAMILY_BYTES + (isAbstract ? name.length : PATH_BYTES), Long.BYTES);
        address.set(JAVA_SHORT, 0, (short) AF_UNIX);
        MemorySegment.copy(name, 0, address, JAVA_BYTE, FAMILY_BYTES, name.length);
        if (isAbstract) {
            address.set(JAVA_BYTE, FAMILY_BYTES, (byte) 0);
        }
        return address;
    }

    /** Accepts the next connection. Returns null if no connection arrives within the timeout. */
    public UnixSocket accept(int timeoutMs) throws IOException {
        if (!enter()) {
            throw new ClosedChannelException();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment poll = arena.allocate(POLL_BYTES, Integer.BYTES);
            poll.set(JAVA_INT, 0, descriptor);
            poll(CLibrary.newCallState(arena), poll, POLLIN, timeoutMs);
            int accepted = CLibrary.call("accept4", descriptor, MemorySegment.NULL, MemorySegment.NULL,
                SOCK_CLOEXEC | SOCK_NONBLOCK);
            return Errno.EAGAIN.is(accepted) || Errno.EINTR.is(accepted)
                ? null
                : new UnixSocket((int) Errno.check("cannot accept a connection", accepted));
        } finally {
            leave();
        }
    }

    /** Waits for events of the descriptor in {@code poll}. Returns a number that is not negative, or minus the error number. */
    static long poll(MemorySegment callState, MemorySegment poll, short events, int timeoutMs) {
        poll.set(JAVA_SHORT, POLL_EVENTS, events);
        return POLL.call(callState, poll.address(), 1, timeoutMs);
    }

    /** Returns the peer process of this connection. */
    public Peer peer() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment credentials = arena.allocate(CREDENTIALS_BYTES, Integer.BYTES);
            MemorySegment length = arena.allocateFrom(JAVA_INT, CREDENTIALS_BYTES);
            Errno.check("cannot read the peer process of a socket",
                CLibrary.call("getsockopt", descriptor, SOL_SOCKET, SO_PEERCRED, credentials, length));
            return new Peer(credentials.getAtIndex(JAVA_INT, 0), credentials.getAtIndex(JAVA_INT, 1));
        }
    }

    /** Makes child processes inherit the descriptor, and makes the descriptor blocking for the child processes. */
    public void letChildrenInherit() throws IOException {
        Errno.check("cannot clear FD_CLOEXEC of a socket", Descriptors.fcntl(descriptor, F_SETFD, 0));
        Errno.check("cannot clear O_NONBLOCK of a socket", Descriptors.fcntl(descriptor, Descriptors.F_SETFL, 0));
    }

    /** Returns the descriptor, for use between {@link #enter} and {@link #leave}, or by a child process that inherits it. */
    public int descriptor() {
        return descriptor;
    }

    /** Keeps the descriptor open until {@link #leave} is called. Returns false if the descriptor is already closed. */
    public boolean enter() {
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

    /** Ends a use of the descriptor. Must be called once after each {@link #enter} that returned true. */
    public void leave() {
        if (users.decrementAndGet() == 0) {
            Descriptors.close(descriptor);
        }
    }

    /** Shuts down one direction of the connection, and wakes a thread that waits for this direction. */
    public void shutdown(int how) {
        if (enter()) {
            CLibrary.call("shutdown", descriptor, how);
            leave();
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            leave();
        }
    }
}
