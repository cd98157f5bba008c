package io.modeldisk.server;

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

/**
 * A TCP proxy that cuts each connection after a seeded random number of bytes in either direction: within a PDU, a login, or
 * after a command was carried out and before its response arrived. When it has cut often enough it lets all through.
 */
final class ChaosProxy implements AutoCloseable {
    private static final int BUFFER_BYTES = 16 << 10;
    // From a few PDU headers to several bursts of data, evenly on a logarithmic scale.
    private static final int MIN_LOG2_BYTES = 7;
    private static final int MAX_LOG2_BYTES = 20;

    private final InetSocketAddress server;
    private final SplittableRandom random;
    private final AtomicInteger cutsLeft;
    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean down;

    /** A proxy for a server; {@code cutsLeft} is shared by all that cut together. */
    ChaosProxy(InetSocketAddress server, long seed, AtomicInteger cutsLeft) throws IOException {
        this.server = server;
        this.random = new SplittableRandom(seed);
        this.cutsLeft = cutsLeft;
        this.listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().name("chaos-acceptor").start(this::accept);
    }

    InetSocketAddress address() {
        return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
    }

    /** Cuts what there is, and refuses what comes, until it is up again. */
    void down(boolean now) {
        down = now;
        if (now) {
            sockets.forEach(ChaosProxy::cut);
        }
    }

    private void accept() {
        try {
            while (!listener.isClosed()) {
                Socket client = listener.accept();
                if (down) {
                    client.close();
                } else {
                    join(client);
                }
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void join(Socket client) throws IOException {
        Socket upstream;
        try {
            upstream = new Socket(server.getAddress(), server.getPort());
        } catch (IOException e) {
            client.close();
            return;
        }
        sockets.add(client);
        sockets.add(upstream);
        pump(client, upstream, budget());
        pump(upstream, client, budget());
    }

    private long budget() {
        double log2 = MIN_LOG2_BYTES + random.nextDouble() * (MAX_LOG2_BYTES - MIN_LOG2_BYTES);
        return (long) Math.pow(2, log2);
    }

    private void pump(Socket from, Socket to, long budget) {
        Thread.ofVirtual().name("chaos-pump").start(() -> {
            try (from; to) {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                byte[] buffer = new byte[BUFFER_BYTES];
                long left = budget;
                while (true) {
                    int length = in.read(buffer);
                    if (length < 0) {
                        break;
                    }
                    if (length >= left && cutsLeft.getAndUpdate(cuts -> Math.max(0, cuts - 1)) > 0) {
                        out.write(buffer, 0, (int) left);
                        break;
                    }
                    out.write(buffer, 0, length);
                    left = Math.max(1, left - length);
                }
            } catch (IOException e) {
                // Cut by the other direction, or by a peer.
            } finally {
                sockets.remove(from);
                sockets.remove(to);
            }
        });
    }

    private static void cut(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        sockets.forEach(ChaosProxy::cut);
    }
}
