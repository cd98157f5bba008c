package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.linux.TcpSockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Sets the socket options of every TCP connection of modeldisk. The benchmarks compare modeldisk with plain TCP connections,
 * which also use these options. Thread-safe.
 */
public final class TcpSocketOptions {
    /** The congestion control Reno (RFC 5681), which does not pace packets. On every Linux system, all users can select it. */
    private static final String UNPACED = "reno";
    private static final Logger LOG = LogManager.getLogger(TcpSocketOptions.class);

    private TcpSocketOptions() {}

    /** Sets the options of a connected channel: no delay, keep-alive, and no pacing if both ends are on this machine. */
    public static void apply(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        InetSocketAddress near = (InetSocketAddress) channel.getLocalAddress();
        InetSocketAddress far = (InetSocketAddress) channel.getRemoteAddress();
        // Pacing, which BBR uses, halves the throughput between two processes of one machine. If the option cannot be set, the
        // connection works, but more slowly.
        if (isLocal(near, far)) {
            try {
                TcpSockets.congestionControl(channel, UNPACED);
            } catch (IOException e) {
                LOG.debug("cannot turn off pacing for the connection from {} to {}: {}", near, far, e.getMessage());
            }
        }
    }

    static boolean isLocal(InetSocketAddress near, InetSocketAddress far) {
        return far.getAddress().isLoopbackAddress() || far.getAddress().equals(near.getAddress());
    }
}
