package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.linux.TcpSockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Connections with both ends on this machine. No network between them can be congested, but a congestion control that paces by a
 * timer (BBR does) halves their throughput. Such a connection gets a congestion control without pacing; all others keep the
 * system's.
 */
final class LocalConnection {
    /** Every Linux has it and lets every user choose it (RFC 5681). */
    private static final String UNPACED = "reno";

    private static final Logger LOG = LogManager.getLogger(LocalConnection.class);

    private LocalConnection() {}

    /** Turns pacing off if both ends are on this machine. A failure costs only speed, and is logged. */
    static void turnOffPacing(SocketChannel channel) throws IOException {
        InetSocketAddress near = (InetSocketAddress) channel.getLocalAddress();
        InetSocketAddress far = (InetSocketAddress) channel.getRemoteAddress();
        if (isLocal(near, far)) {
            try {
                TcpSockets.congestionControl(channel, UNPACED);
            } catch (IOException e) {
                LOG.debug("the connection of {} with {} keeps its congestion control: {}", near, far, e.getMessage());
            }
        }
    }

    static boolean isLocal(InetSocketAddress near, InetSocketAddress far) {
        return far.getAddress().isLoopbackAddress() || far.getAddress().equals(near.getAddress());
    }
}
