package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Where initiators reach a target over one kind of datamover. Closed by any thread; {@link #accept} is for one. */
public interface TargetPortal extends AutoCloseable {
    /** Opens one. */
    @FunctionalInterface
    interface Opener {
        /**
         * Begins to listen.
         *
         * @param address the target's TCP address, which tells it from others even where another datamover listens
         * @param targetName its iSCSI name
         * @throws IOException if that cannot be, in words
         */
        TargetPortal open(InetSocketAddress address, String targetName) throws IOException;
    }

    /** The datamover's name, as {@code tcp}. */
    String datamover();

    /** The target's TCP address; if it was this portal's to choose the port, with the one that it has chosen. */
    InetSocketAddress localAddress();

    /**
     * Makes memory known that connections will move data from and to: no connection has to do so later. It stays known until the
     * portal and the last of its connections have ended.
     *
     * @throws IOException if the device does not take it, in words
     */
    default void prepare(DataMemory memory) throws IOException {}

    /**
     * Waits for the next connection.
     *
     * @throws java.nio.channels.ClosedChannelException when the portal is closed
     * @throws IOException if none can be taken now; the portal goes on
     */
    IncomingConnection accept() throws IOException;

    /** Where it listens, for messages. */
    @Override
    String toString();

    /** Ends {@link #accept}; connections go on. */
    @Override
    void close();
}
