package io.modeldisk.protocol.datamover;

import java.io.IOException;

/**
 * Where initiators reach a target over one kind of datamover. Closed by any thread; {@link #accept} is for one.
 */
public interface TargetPortal extends AutoCloseable {
    /** The datamover's name, as {@code tcp}. */
    String datamover();

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
