package io.modeldisk.protocol.datamover;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A connection that a portal has accepted: {@link #open} or {@link #close} takes it further. */
public interface IncomingConnection extends AutoCloseable {
    /** The address that SendTargets names for the portal it came to (RFC 7143 appendix C). */
    InetSocketAddress localAddress();

    /** Where its initiator is; the loopback address if it is on this host for certain. */
    InetAddress peerAddress();

    /**
     * Begins to serve it.
     *
     * @param slots the most transfers at one time, each with its own {@link DataTransfer#slot()}
     * @param clock the time of {@link Liveness}
     */
    TargetDatamover open(TargetDatamover.Numbering numbering, int slots, NanoClock clock) throws IOException;

    /** Refuses it; does nothing once it was opened. */
    @Override
    void close();
}
