package io.modeldisk.protocol.datamover;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A connection that a portal has accepted. The owner must call {@link #open} or {@link #close}. */
public interface IncomingConnection extends AutoCloseable {
    /** The address of the portal that accepted the connection. SendTargets reports this address (RFC 7143 appendix C). */
    InetSocketAddress localAddress();

    /** The initiator's address. The loopback address means that the initiator is on this host. */
    InetAddress peerAddress();

    /**
     * Creates the target's datamover for the connection.
     *
     * @param slots the maximum number of transfers at one time, each with a different {@link DataTransfer#slot()}
     * @param clock the clock for the times in {@link Liveness}
     */
    TargetDatamover open(TargetDatamover.Numbering numbering, int slots, NanoClock clock) throws IOException;

    /** Closes the connection without opening it. */
    @Override
    void close();
}
