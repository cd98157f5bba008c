package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.shm.ShmInitiatorPortal;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;

/**
 * The datamover that an initiator uses for a target, and the reason for the choice.
 *
 * @param portal the object that connects to the target over this datamover
 * @param reason the reason why this datamover was chosen
 */
public record Route(InitiatorPortal portal, String reason) {
    /** The datamovers that a user can choose. */
    public enum Preference {
        /** Uses shared memory if the target offers it on this host, else iSER if the target responds over RDMA, else TCP. */
        AUTO,
        /** Uses TCP only. */
        TCP,
        /** Uses shared memory only. */
        SHM,
        /** Uses iSER over an RDMA device only. */
        ISER;

        @Override
        public String toString() {
            return EnumNames.of(this);
        }
    }

    /**
     * Chooses the datamover for a target. With {@link Preference#AUTO}, this method first tries to connect over shared memory. If
     * the attempt fails, the method tries to connect over RDMA.
     *
     * @param address the target's TCP address
     * @param targetName the target's iSCSI name
     * @param socketDirectory the directory of the sockets, such as {@link SocketPath#defaultDirectory()}
     * @param protectedByDigests whether the session uses digests, which only TCP supports
     * @param iserConnections the iSER connections of this process
     */
    public static Route choose(
        Preference preference, InetSocketAddress address, String targetName, Path socketDirectory,
        boolean protectedByDigests,
        IserProvider.Connections iserConnections) {
        ShmInitiatorPortal shm = new ShmInitiatorPortal(SocketPath.of(socketDirectory, targetName, address.getPort()));
        InitiatorPortal iser = iserConnections.portal(address);
        TcpInitiatorPortal tcp = new TcpInitiatorPortal(address);
        if (preference == Preference.AUTO) {
            return protectedByDigests ? new Route(tcp, "only TCP supports digests") : automatic(shm, iser, tcp);
        }
        if (protectedByDigests && preference != Preference.TCP) {
            throw new IllegalArgumentException(
                "datamover=" + preference + " does not support digests; use --datamover tcp, or --digests none");
        }
        InitiatorPortal asked = switch (preference) {
            case SHM -> shm;
            case ISER -> iser;
            default -> tcp;
        };
        return new Route(asked, "the user has chosen this datamover");
    }

    private static Route automatic(ShmInitiatorPortal shm, InitiatorPortal iser, TcpInitiatorPortal tcp) {
        String noShm = isThisHost(tcp.address().getAddress()) ? shm.obstacle() : "the target is on another host";
        if (noShm == null) {
            return new Route(shm, "the target is on this host and listens on " + shm.path());
        }
        String noIser = iser.obstacle();
        return noIser == null
            ? new Route(iser, "the target responds over RDMA; shared memory is not possible: " + noShm)
            : new Route(tcp, "shared memory is not possible: " + noShm + "; iSER is not possible: " + noIser);
    }

    private static boolean isThisHost(InetAddress address) {
        try {
            return address != null
                && (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null);
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the datamover and the reason, such as {@code tcp (the user has chosen this datamover)}. */
    @Override
    public String toString() {
        return portal.datamover() + " (" + reason + ")";
    }
}
