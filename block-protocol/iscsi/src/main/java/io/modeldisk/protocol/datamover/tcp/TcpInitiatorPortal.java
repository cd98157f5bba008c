package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.SocketChannel;

/**
 * Connects to a target over TCP.
 *
 * @param address the address at which the target listens
 */
public record TcpInitiatorPortal(InetSocketAddress address) implements InitiatorPortal {
    @Override
    public String datamover() {
        return TcpPortal.NAME;
    }

    @Override
    public InitiatorDatamover connect(
        InitiatorDatamover.Numbering numbering, int queueDepth, long timeoutMs, NanoClock clock) throws IOException {
        if (address.isUnresolved()) {
            throw new IOException("the host name '" + address.getHostString() + "' is unknown; check the address");
        }
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(address, (int) timeoutMs);
            return new TcpInitiatorDatamover(channel, numbering, queueDepth, clock);
        } catch (ConnectException | SocketTimeoutException e) {
            channel.close();
            throw new IOException("the target does not respond: " + e.getMessage()
                + "; is `modeldisk serve` running there?", e);
        } catch (IOException e) {
            channel.close();
            throw new IOException("the target cannot be reached: " + e.getMessage(), e);
        }
    }
}
