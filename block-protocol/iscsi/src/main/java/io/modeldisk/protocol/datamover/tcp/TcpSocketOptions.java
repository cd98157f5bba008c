package io.modeldisk.protocol.datamover.tcp;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * Sets the socket options of every TCP connection of modeldisk. The benchmarks compare modeldisk with plain TCP connections,
 * which also use these options. Thread-safe.
 */
public final class TcpSocketOptions {
    private TcpSocketOptions() {}

    /** Sets the options of a connected channel: no delay, keep-alive, and no pacing if both ends are on this machine. */
    public static void apply(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        LocalConnection.turnOffPacing(channel);
    }
}
