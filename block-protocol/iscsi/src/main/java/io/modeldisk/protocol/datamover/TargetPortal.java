package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.net.InetSocketAddress;

/** The listener of a target for one kind of datamover. {@link #close} is for any thread, {@link #accept} for one. */
public interface TargetPortal extends AutoCloseable {
    /** Opens portals. */
    @FunctionalInterface
    interface Opener {
        /**
         * Starts to listen.
         *
         * @param address the target's TCP address, which identifies it for other datamovers too
         * @param targetName its iSCSI name
         * @throws IOException if it cannot listen; the message says why
         */
        TargetPortal open(InetSocketAddress address, String targetName) throws IOException;
    }

    /** The datamover's name, as {@code tcp}. */
    String datamover();

    /** The target's TCP address, with the port that this portal has chosen if 0 was requested. */
    InetSocketAddress localAddress();

    /**
     * Registers memory for the data of all connections. It stays registered until the portal and its last connection have ended.
     *
     * @throws IOException if the device refuses the memory; the message says why
     */
    default void prepare(DataMemory memory) throws IOException {}

    /**
     * Waits for the next connection.
     *
     * @throws java.nio.channels.ClosedChannelException when the portal is closed
     * @throws IOException if a connection failed; the portal goes on
     */
    IncomingConnection accept() throws IOException;

    /** The address, for messages. */
    @Override
    String toString();

    /** Ends {@link #accept}. Connections go on. */
    @Override
    void close();
}
