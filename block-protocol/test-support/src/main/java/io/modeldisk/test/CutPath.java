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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A network path to a server that can be cut, as by a cable that is pulled: nothing comes through any more, and neither end hears
 * of it. What was on its way arrives when the path is whole again.
 */
public final class CutPath implements Closeable {
    private static final int BUFFER_BYTES = 16 << 10;

    private final InetSocketAddress server;
    private final ServerSocket listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // Guarded by the lock.
    private boolean cut;
    private boolean closed;

    /** A path to a port of this machine. */
    public CutPath(int port) throws IOException {
        this.server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        Thread.ofVirtual().name("path-acceptor").start(this::accept);
    }

    /** The port to connect to instead of the server's. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Cuts the path, or makes it whole again. */
    public void cut(boolean now) {
        lock.lock();
        try {
            cut = now;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void accept() {
        try {
            while (!listener.isClosed()) {
                Socket client = listener.accept();
                sockets.add(client);
                Thread.ofVirtual().name("path-opener").start(() -> open(client));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void open(Socket client) {
        try {
            awaitWhole();
            Socket upstream = new Socket(server.getAddress(), server.getPort());
            sockets.add(upstream);
            pump(client, upstream);
            pump(upstream, client);
        } catch (IOException e) {
            closeQuietly(client);
        }
    }

    private void pump(Socket from, Socket to) {
        Thread.ofVirtual().name("path-pump").start(() -> {
            try (from; to) {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                byte[] buffer = new byte[BUFFER_BYTES];
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    awaitWhole();
                    out.write(buffer, 0, length);
                }
                // The end of the connection does not come through a cut path either.
                awaitWhole();
            } catch (IOException e) {
                // One of the two is gone.
            }
        });
    }

    private void awaitWhole() throws IOException {
        lock.lock();
        try {
            while (cut && !closed) {
                changed.awaitUninterruptibly();
            }
            if (closed) {
                throw new IOException("the path is closed");
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
        sockets.forEach(CutPath::closeQuietly);
    }
}
