package io.modeldisk.test;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ScopedLock.Held;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;

/**
 * A network path to a server on this machine. The path is a TCP proxy into which a test injects faults. The initial state is
 * {@link State#UP}. Thread-safe.
 */
public final class NetworkPath implements Closeable {
    private static final int BUFFER_BYTES = 16 << 10;
    // A connection breaks after a random number of bytes from 2^7 to 2^20. The number is uniform on a logarithmic scale. The
    // range extends from a few PDU headers to several bursts of data.
    private static final int MIN_LOG2_BYTES = 7;
    private static final int MAX_LOG2_BYTES = 20;

    private final SplittableRandom random;
    private final AtomicInteger breaksLeft;
    private final ServerSocket listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();
    private volatile InetSocketAddress server;
    private final ScopedLock lock = new ScopedLock();
    private final Condition changed = lock.newCondition();
    // Guarded by {@code lock}.
    private State state = State.UP;
    private boolean closed;

    /** The way in which a path handles connections and data. */
    public enum State {
        /** The path delivers data. */
        UP,
        /**
         * The path delivers nothing and reports no error, like an unplugged cable. Data that is sent in this state arrives after
         * the state has returned to {@link #UP}.
         */
        SILENT,
        /** The path closes its connections, and closes every new connection at once. */
        DOWN
    }

    /** Creates a path to a port of this machine. The path breaks no connection by itself. */
    public NetworkPath(int port) throws IOException {
        this(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /** Creates a path to a server. The path breaks no connection by itself. */
    public NetworkPath(InetSocketAddress server) throws IOException {
        this(server, 0, new AtomicInteger());
    }

    /**
     * Creates a path that breaks each connection after a random number of bytes in either direction. The break can be within a
     * PDU, within a login, or between the execution of a command and its response. After {@code breaksLeft} breaks, the path
     * delivers all data.
     *
     * @param seed the seed of the random numbers
     * @param breaksLeft the number of connections that are still to be broken; several paths can share this counter
     */
    public NetworkPath(InetSocketAddress server, long seed, AtomicInteger breaksLeft) throws IOException {
        this.server = server;
        this.random = new SplittableRandom(seed);
        this.breaksLeft = breaksLeft;
        Thread.ofVirtual().name("path-acceptor").start(this::accept);
    }

    /** Returns the address to which a client connects instead of the address of the server. */
    public InetSocketAddress address() {
        return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
    }

    /** Returns the port to which a client connects instead of the port of the server. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Returns the number of connections that clients have opened. */
    public int connections() {
        return connections.get();
    }

    /** Sets the state of the path, to inject or remove a fault. */
    public void state(State next) {
        try (Held _ = lock.hold()) {
            state = next;
            changed.signalAll();
        }
        if (next == State.DOWN) {
            sockets.forEach(NetworkPath::closeQuietly);
        }
    }

    /** Changes the server to which the path leads, and closes all connections to the previous server. */
    public void moveTo(InetSocketAddress next) {
        server = next;
        sockets.forEach(NetworkPath::closeQuietly);
    }

    private void accept() {
        try {
            while (!listener.isClosed()) {
                Socket client = listener.accept();
                connections.incrementAndGet();
                long toServerBytes = bytesUntilBreak();
                long toClientBytes = bytesUntilBreak();
                sockets.add(client);
                Thread.ofVirtual().name("path-opener").start(() -> open(client, toServerBytes, toClientBytes));
            }
        } catch (IOException e) {
            // The listener was closed.
        }
    }

    private long bytesUntilBreak() {
        return (long) Math.pow(2, MIN_LOG2_BYTES + random.nextDouble() * (MAX_LOG2_BYTES - MIN_LOG2_BYTES));
    }

    private void open(Socket client, long toServerBytes, long toClientBytes) {
        try {
            awaitUp();
            InetSocketAddress to = server;
            Socket upstream = new Socket(to.getAddress(), to.getPort());
            sockets.add(upstream);
            // Without this option, Nagle's algorithm would delay small packets by 40 ms.
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
            pump(client, upstream, toServerBytes);
            pump(upstream, client, toClientBytes);
            // This call throws an exception if the path went down while the upstream socket was being opened. The connection is
            // then closed.
            awaitUp();
            if (to != server) {
                closeQuietly(upstream);
                throw new IOException("the path leads to another server now");
            }
        } catch (IOException e) {
            sockets.remove(client);
            closeQuietly(client);
        }
    }

    private void pump(Socket from, Socket to, long bytesUntilBreak) {
        Thread.ofVirtual().name("path-pump").start(() -> {
            try (from; to) {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                byte[] buffer = new byte[BUFFER_BYTES];
                long left = bytesUntilBreak;
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    awaitUp();
                    if (length >= left && breaksLeft.getAndUpdate(breaks -> Math.max(0, breaks - 1)) > 0) {
                        out.write(buffer, 0, (int) left);
                        return;
                    }
                    out.write(buffer, 0, length);
                    left = Math.max(1, left - length);
                }
                // A silent path also hides that a peer has closed its connection.
                awaitUp();
            } catch (IOException e) {
                // The pump of the other direction, or a peer, has closed the connection.
            } finally {
                sockets.remove(from);
                sockets.remove(to);
            }
        });
    }

    /** Waits while the path is silent. Throws an exception if the path is down or closed. */
    private void awaitUp() throws IOException {
        try (Held _ = lock.hold()) {
            while (state == State.SILENT && !closed) {
                changed.awaitUninterruptibly();
            }
            if (state == State.DOWN || closed) {
                throw new IOException("the network path is down or closed");
            }
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        try (Held _ = lock.hold()) {
            closed = true;
            changed.signalAll();
        }
        sockets.forEach(NetworkPath::closeQuietly);
    }
}
