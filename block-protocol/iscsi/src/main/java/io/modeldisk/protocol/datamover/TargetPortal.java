package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Accepts connections over one kind of datamover. Only one thread calls {@link #accept}. Any thread may call {@link #close}. */
public interface TargetPortal extends AutoCloseable {
    /** Opens portals of one kind of datamover. */
    @FunctionalInterface
    interface Opener {
        /**
         * Opens a portal that listens for connections.
         *
         * @param address the target's TCP address. Other datamovers also use this address to identify the target
         * @param targetName the target's iSCSI name
         * @return the portal; null if the portal is optional and cannot be opened here
         * @throws IOException if the portal cannot listen. The message contains the reason
         */
        TargetPortal open(InetSocketAddress address, String targetName) throws IOException;

        /** True if portals of this kind can, on some machines, fetch written data into memory of a device such as a GPU. */
        default boolean mayReachDevices() {
            return false;
        }
    }

    /** The datamover's name, such as {@code tcp}. */
    String datamover();

    /** The target's TCP address. If port 0 was requested, the address contains the port that the system chose. */
    InetSocketAddress localAddress();

    /**
     * Registers memory for the data of all connections. The memory stays registered until the portal and its last connection
     * are closed.
     *
     * @throws IOException if the device cannot register the memory. The message contains the reason
     */
    default void prepare(DataMemory memory) throws IOException {}

    /**
     * Registers memory of a device such as a GPU, so connections can fetch the data of writes into this memory.
     *
     * @return the method by which connections access the memory, such as {@code dma-buf}; null if connections of this kind cannot
     *     access it
     * @throws IOException if the RDMA device cannot register the memory. The message contains the reasons
     */
    default String prepareOnDevice(DataMemory memory) throws IOException {
        return null;
    }

    /**
     * Waits for the next connection.
     *
     * @throws java.nio.channels.ClosedChannelException if the portal is closed
     * @throws IOException if one connection failed. The portal can accept further connections
     */
    IncomingConnection accept() throws IOException;

    /** The portal's address, for messages. */
    @Override
    String toString();

    /** Closes the portal. A call of {@link #accept} in progress fails. Accepted connections stay open. */
    @Override
    void close();
}
