package io.modeldisk.server.fake;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A TCP address that leads to another address, which the test changes. A change closes all connections. */
public final class MovingAddress implements AutoCloseable {
    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile InetSocketAddress target;

    /** Creates an address that leads to {@code first}. */
    public MovingAddress(InetSocketAddress first) throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        target = first;
        Thread.ofVirtual().start(this::accept);
    }

    /** The address that does not change. */
    public InetSocketAddress address() {
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    /** Leads to another address from now on. */
    public void moveTo(InetSocketAddress next) {
        target = next;
        sockets.forEach(MovingAddress::close);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket near = listener.accept();
                near.setOption(StandardSocketOptions.TCP_NODELAY, true);
                sockets.add(near);
                Thread.ofVirtual().start(() -> connect(near));
            } catch (IOException e) {
                // The listener was closed.
            }
        }
    }

    private void connect(Socket near) {
        InetSocketAddress to = target;
        try (Socket far = new Socket()) {
            sockets.add(far);
            far.connect(to);
            far.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (to != target) {
                return;
            }
            Thread back = Thread.ofVirtual().start(() -> copy(far, near));
            copy(near, far);
            back.join();
        } catch (IOException e) {
            // The connection has ended.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            close(near);
        }
    }

    private static void copy(Socket from, Socket to) {
        try (InputStream in = from.getInputStream(); OutputStream out = to.getOutputStream()) {
            in.transferTo(out);
        } catch (IOException e) {
            // The connection has ended.
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        sockets.forEach(MovingAddress::close);
    }
}
