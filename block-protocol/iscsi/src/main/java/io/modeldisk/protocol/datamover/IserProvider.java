package io.modeldisk.protocol.datamover;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.ServiceLoader;

/** Gives access to iSER (RFC 7145), an optional module that {@link ServiceLoader} finds on the class path. Thread-safe. */
public interface IserProvider {
    /** The datamover's name. */
    String NAME = "iser";

    /** Returns the provider on the class path. If there is none, returns a provider that reports iSER as unavailable. */
    static IserProvider find() {
        return ServiceLoader.load(IserProvider.class).findFirst().orElseGet(AbsentIser::new);
    }

    /** The reason why this process cannot use an RDMA device, or null if it can. */
    String unavailabilityCause();

    /** Queries this machine's RDMA devices for their addresses. Must not be called on the data path. */
    List<InetAddress> addresses() throws IOException;

    /** Returns the object that opens iSER portals of a target. */
    TargetPortal.Opener opener();

    /** Creates a set of connections that share registered memory. */
    Connections connections();

    /** Connections of one process that share registered memory. */
    interface Connections {
        /** Returns a portal that connects to the target at {@code address}. */
        InitiatorPortal portal(InetSocketAddress address);
    }
}
