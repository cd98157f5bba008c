package io.modeldisk.test;

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
import java.util.concurrent.locks.ReentrantLock;

/**
 * A TCP path to a server of this machine, with faults that a test injects. A path is {@link State#UP} at first. Thread-safe.
 */
public final class NetworkPath implements Closeable {
    private static final int BUFFER_BYTES = 16 << 10;
    // From a few PDU headers to several bursts of data, evenly on a logarithmic scale.
    private static final int MIN_LOG2_BYTES = 7;
    private static final int MAX_LOG2_BYTES = 20;

    private final InetSocketAddress server;
    private final SplittableRandom random;
    private final AtomicInteger breaksLeft;
    private final ServerSocket listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // Guarded by the lock.
    private State state = State.UP;
    private boolean closed;

    /** What a path does with connections and data. */
    public enum State {
        /** It delivers. */
        UP,
        /** It delivers nothing and reports nothing, like a cable that was pulled. What was sent arrives once the path is up. */
        SILENT,
        /** Its connections are closed, and new ones are closed at once. */
        DOWN
    }

    /** A path to a port of this machine that breaks no connection by itself. */
    public NetworkPath(int port) throws IOException {
        this(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0, new AtomicInteger());
    }

    /**
     * A path that breaks each connection after a random number of bytes in either direction: within a PDU, within a login, or
     * between a command's execution and its response. It delivers everything once no breaks are left.
     *
     * @param seed of the random numbers
     * @param breaksLeft how many connections are still broken; several paths may share it
     */
    public NetworkPath(InetSocketAddress server, long seed, AtomicInteger breaksLeft) throws IOException {
        this.server = server;
        this.random = new SplittableRandom(seed);
        this.breaksLeft = breaksLeft;
        Thread.ofVirtual().name("path-acceptor").start(this::accept);
    }

    /** The address to connect to instead of the server's. */
    public InetSocketAddress address() {
        return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
    }

    /** The port to connect to instead of the server's. */
    public int port() {
        return listener.getLocalPort();
    }

    /** How many connections clients have made so far. */
    public int connections() {
        return connections.get();
    }

    /** Injects a fault, or ends it. */
    public void state(State next) {
        lock.lock();
        try {
            state = next;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (next == State.DOWN) {
            sockets.forEach(NetworkPath::closeQuietly);
        }
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
            // Closed.
        }
    }

    private long bytesUntilBreak() {
        return (long) Math.pow(2, MIN_LOG2_BYTES + random.nextDouble() * (MAX_LOG2_BYTES - MIN_LOG2_BYTES));
    }

    private void open(Socket client, long toServerBytes, long toClientBytes) {
        try {
            awaitUp();
            Socket upstream = new Socket(server.getAddress(), server.getPort());
            sockets.add(upstream);
            pump(client, upstream, toServerBytes);
            pump(upstream, client, toClientBytes);
            // A path that went down meanwhile may have missed the upstream socket.
            awaitUp();
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
                // A silent path does not report the end of a connection either.
                awaitUp();
            } catch (IOException e) {
                // Broken by the other direction or by a peer.
            } finally {
                sockets.remove(from);
                sockets.remove(to);
            }
        });
    }

    /** Waits while the path is silent; fails if it is down or closed. */
    private void awaitUp() throws IOException {
        lock.lock();
        try {
            while (state == State.SILENT && !closed) {
                changed.awaitUninterruptibly();
            }
            if (state == State.DOWN || closed) {
                throw new IOException("the path is down");
            }
        } finally {
            lock.unlock();
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
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        sockets.forEach(NetworkPath::closeQuietly);
    }
}
