package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.linux.TcpSockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Turns off pacing for TCP connections with both ends on this machine, because pacing, which BBR uses, halves the throughput of
 * such connections. Other connections keep the congestion control that is the default of the system.
 */
final class LocalConnection {
    /** Reno (RFC 5681) does not pace. Every Linux system offers Reno to all users. */
    private static final String UNPACED = "reno";

    private static final Logger LOG = LogManager.getLogger(LocalConnection.class);

    private LocalConnection() {}

    /** Turns pacing off if both ends of the connection are on this machine. A failure reduces only the speed and is logged. */
    static void turnOffPacing(SocketChannel channel) throws IOException {
        InetSocketAddress near = (InetSocketAddress) channel.getLocalAddress();
        InetSocketAddress far = (InetSocketAddress) channel.getRemoteAddress();
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
