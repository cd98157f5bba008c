package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.datamover.TargetPortal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Listens on a TCP port. */
public final class TcpPortal implements TargetPortal {
    /** The datamover's name. */
    public static final String NAME = "tcp";

    private static final int BACKLOG = 512;

    private final ServerSocketChannel listener;

    private TcpPortal(ServerSocketChannel listener) {
        this.listener = listener;
    }

    /**
     * Listens.
     *
     * @param address of this machine; port 0 takes any that is free
     * @throws IOException if that cannot be, in words
     */
    public static TcpPortal listen(InetSocketAddress address) throws IOException {
        if (address.isUnresolved()) {
            throw new IOException("cannot listen on " + address.getHostString() + ": there is no such host");
        }
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(address, BACKLOG);
            return new TcpPortal(channel);
        } catch (BindException e) {
            channel.close();
            throw new IOException("cannot listen on " + address.getHostString() + ":" + address.getPort() + ": "
                + e.getMessage()
                + "; --listen chooses another address, as HOST:PORT: a host of this machine and a port that is free",
                e);
        }
    }

    /** Where it listens; with the port that the system chose if 0 was asked for. */
    public InetSocketAddress localAddress() {
        try {
            return (InetSocketAddress) listener.getLocalAddress();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String datamover() {
        return NAME;
    }

    @Override
    public IncomingConnection accept() throws IOException {
        SocketChannel channel = listener.accept();
        try {
            return new Incoming(channel, (InetSocketAddress) channel.getLocalAddress(),
                ((InetSocketAddress) channel.getRemoteAddress()).getAddress());
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private record Incoming(SocketChannel channel, InetSocketAddress localAddress, InetAddress peerAddress)
        implements
            IncomingConnection {
        @Override
        public TargetDatamover open(TargetDatamover.Numbering numbering, int slots) throws IOException {
            return new TcpTargetDatamover(channel, numbering, slots);
        }

        @Override
        public void close() {
            try {
                channel.close();
            } catch (IOException e) {
                // The channel is closed all the same; the peer sees the end of the stream or a reset.
            }
        }
    }

    @Override
    public String toString() {
        InetSocketAddress address = localAddress();
        return address.getHostString() + ":" + address.getPort();
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
