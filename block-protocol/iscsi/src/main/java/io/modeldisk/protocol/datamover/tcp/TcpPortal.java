package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.login.TargetAddress;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Listens for connections to a target on a TCP port. */
public final class TcpPortal implements TargetPortal {
    /** The datamover's name. */
    public static final String NAME = "tcp";

    /** Opens a portal at the target's address. */
    public record Opener() implements TargetPortal.Opener {
        @Override
        public TargetPortal open(InetSocketAddress address, String targetName) throws IOException {
            return listen(address);
        }

        @Override
        public String toString() {
            return NAME;
        }
    }

    private static final int BACKLOG = 512;

    private final ServerSocketChannel listener;

    private TcpPortal(ServerSocketChannel listener) {
        this.listener = listener;
    }

    /**
     * Opens a portal that listens at an address.
     *
     * @param address an address of this machine. If the port is 0, the system chooses a free port
     * @throws IOException if the address cannot be used. The message contains the reason
     */
    public static TcpPortal listen(InetSocketAddress address) throws IOException {
        if (address.isUnresolved()) {
            throw new IOException("cannot listen on " + address.getHostString()
                + ": the host name is unknown; choose another address with --listen");
        }
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(address, BACKLOG);
            return new TcpPortal(channel);
        } catch (BindException e) {
            channel.close();
            throw new IOException("cannot listen on " + TargetAddress.text(address) + ": "
                + e.getMessage()
                + "; choose an address of this machine and a free port with --listen HOST:PORT",
                e);
        }
    }

    @Override
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
            InetSocketAddress peer = (InetSocketAddress) channel.getRemoteAddress();
            if (peer == null) {
                throw new EOFException("the peer closed the connection before the portal accepted it");
            }
            return new Incoming(channel, (InetSocketAddress) channel.getLocalAddress(), peer.getAddress());
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private record Incoming(SocketChannel channel, InetSocketAddress localAddress, InetAddress peerAddress)
        implements
            IncomingConnection {
        @Override
        public TargetDatamover open(TargetDatamover.Numbering numbering, int slots, NanoClock clock)
            throws IOException {
            return new TcpTargetDatamover(channel, numbering, slots, clock);
        }

        @Override
        public void close() {
            try {
                channel.close();
            } catch (IOException e) {
                // The channel is closed even if close() throws. The peer sees the end of the stream or a reset.
            }
        }
    }

    @Override
    public String toString() {
        return TargetAddress.text(localAddress());
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
