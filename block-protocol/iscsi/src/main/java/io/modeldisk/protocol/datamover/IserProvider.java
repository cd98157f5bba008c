package io.modeldisk.protocol.datamover;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.ServiceLoader;

/**
 * iSER (RFC 7145), an optional part: its module is found by {@link ServiceLoader}, and may be absent. Thread-safe.
 */
public interface IserProvider {
    /** The datamover's name. */
    String NAME = "iser";

    /** The provider on the class path, or one that says that there is none. */
    static IserProvider find() {
        return ServiceLoader.load(IserProvider.class).findFirst().orElseGet(AbsentIser::new);
    }

    /** Whether this process can use an RDMA device. */
    default boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /** Why this process cannot use an RDMA device; null if it can. */
    String unavailabilityCause();

    /** The addresses of this machine that belong to RDMA devices. Asks the devices, so not for the data path. */
    List<InetAddress> addresses() throws IOException;

    /** Opens portals of a target. */
    TargetPortal.Opener opener();

    /** A new set of connections that share the memory they register. */
    Connections connections();

    /** Connections of one process, whose registered memory is shared. */
    interface Connections {
        /** The way to the target that listens at an address. */
        InitiatorPortal portal(InetSocketAddress address);
    }
}
