package io.modeldisk.protocol.datamover;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A connection that a portal has accepted; {@link #open} or {@link #close} follows. */
public interface IncomingConnection extends AutoCloseable {
    /** The address that SendTargets names for the portal it came to (RFC 7143 appendix C). */
    InetSocketAddress localAddress();

    /** The initiator's address; the loopback address if the initiator is certainly on this host. */
    InetAddress peerAddress();

    /**
     * Begins to serve the connection.
     *
     * @param slots the most transfers at one time, each with its own {@link DataTransfer#slot()}
     * @param clock of the times in {@link Liveness}
     */
    TargetDatamover open(TargetDatamover.Numbering numbering, int slots, NanoClock clock) throws IOException;

    /** Refuses the connection; does nothing after {@link #open}. */
    @Override
    void close();
}
