package io.modeldisk.bench.training;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * An emulated full-duplex network link of a learner with a given throughput in each direction. The link forwards connections on
 * loopback and delays their data. Thread-safe.
 */
final class Link implements AutoCloseable {
    private static final int BUFFER_BYTES = 128 << 10;
    // The size of the receive buffer of each socket of the link. The sender to a socket waits while this buffer is full.
    private static final int QUEUE_BYTES = 128 << 10;
    // The maximum duration of a burst. A burst compensates for a late wake-up of the forwarding thread.
    private static final long BURST_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private final List<ServerSocketChannel> listeners = new ArrayList<>();
    private final List<SocketChannel> channels = new ArrayList<>();
    private final Way up;
    private final Way down;

    private Link(long bytesPerSecond) {
        this.up = new Way(bytesPerSecond);
        this.down = new Way(bytesPerSecond);
    }

    /** Opens a link to the given shards. */
    static Link open(List<InetSocketAddress> shards, long bytesPerSecond) throws IOException {
        Link link = new Link(bytesPerSecond);
        try {
            for (InetSocketAddress shard : shards) {
                ServerSocketChannel listener = ServerSocketChannel.open()
                    .setOption(StandardSocketOptions.SO_RCVBUF, QUEUE_BYTES)
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                link.listeners.add(listener);
                Thread.ofPlatform().name("link-accept").daemon().start(() -> link.accept(listener, shard));
            }
            return link;
        } catch (IOException e) {
            link.close();
            throw e;
        }
    }

    /** The addresses that the link listens on, in the order of the shards. */
    List<InetSocketAddress> portals() throws IOException {
        List<InetSocketAddress> portals = new ArrayList<>();
        for (ServerSocketChannel listener : listeners) {
            portals.add((InetSocketAddress) listener.getLocalAddress());
        }
        return portals;
    }

    private void accept(ServerSocketChannel listener, InetSocketAddress shard) {
        try {
            while (true) {
                SocketChannel near = listener.accept();
                SocketChannel far = SocketChannel.open().setOption(StandardSocketOptions.SO_RCVBUF, QUEUE_BYTES);
                far.connect(shard);
                near.setOption(StandardSocketOptions.TCP_NODELAY, true);
                far.setOption(StandardSocketOptions.TCP_NODELAY, true);
                synchronized (channels) {
                    channels.add(near);
                    channels.add(far);
                }
                Thread.ofPlatform().name("link-up").daemon().start(() -> forward(near, far, up));
                Thread.ofPlatform().name("link-down").daemon().start(() -> forward(far, near, down));
            }
        } catch (ClosedChannelException e) {
            // The link is closed.
            return;
        } catch (IOException e) {
            System.err.println("the emulated link cannot accept further connections: " + e.getMessage());
        }
    }

    private static void forward(SocketChannel from, SocketChannel to, Way way) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        try (from; to) {
            while (from.read(buffer.clear()) >= 0) {
                buffer.flip();
                way.pass(buffer.remaining());
                while (buffer.hasRemaining()) {
                    to.write(buffer);
                }
            }
        } catch (IOException e) {
            // One peer has closed its connection, so the connection to the other peer is closed too.
            return;
        }
    }

    @Override
    public void close() throws IOException {
        for (ServerSocketChannel listener : listeners) {
            listener.close();
        }
        synchronized (channels) {
            for (SocketChannel channel : channels) {
                channel.close();
            }
        }
    }

    /** One direction of the link. */
    private static final class Way {
        private final double nsPerByte;
        private long freeAtNs = System.nanoTime();

        Way(long bytesPerSecond) {
            this.nsPerByte = (double) TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
        }

        /** Waits until the link has transmitted {@code bytes} more bytes. */
        void pass(int bytes) {
            long passedNs = take(bytes);
            for (long leftNs = passedNs - System.nanoTime(); leftNs > 0; leftNs = passedNs - System.nanoTime()) {
                LockSupport.parkNanos(leftNs);
            }
        }

        private synchronized long take(int bytes) {
            freeAtNs = Math.max(freeAtNs, System.nanoTime() - BURST_NS) + (long) (bytes * nsPerByte);
            return freeAtNs;
        }
    }
}
